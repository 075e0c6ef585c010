// A real kube-apiserver speaks the recorded dialogues, so that they stay its own words when its version
// changes. `RECORD=1 node --test test/kube/behaviour/real.e2e.ts` records them anew.

import { after, before } from 'node:test';
import { eventually } from '../../toolkit/index.ts';
import { skipWithout } from '../binaries.ts';
import { type ControlPlane, startControlPlane } from '../control-plane.ts';
import { apiServerBehaviours } from './suite.ts';

const skip = skipWithout('controlPlane');
let plane: ControlPlane;

before(async () => {
  if (skip === false) plane = await startControlPlane();
});

after(async () => {
  await plane?.[Symbol.asyncDispose]();
});

/** After a start each kind answers 429 until its own cache is filled. */
async function servesAll(): Promise<boolean> {
  const ours = '/apis/bigfleet.lucy.sh/v1alpha1';
  const paths = ['capacityrequests', 'upcomingnodes', 'availablecapacities'].map(
    (plural) => `${ours}/${plural}`,
  );
  const answers = await Promise.all(
    [...paths, '/api/v1/pods', '/api/v1/nodes'].map((path) => plane.admin.get(path)),
  );
  return answers.every(({ status }) => status === 200);
}

apiServerBehaviours({
  skip,
  isRecording: process.env['RECORD'] === '1',
  subject: () => ({
    api: plane.admin,
    namespace: (name) => plane.namespace(name),
    // Its watch cache answers for versions that etcd has forgotten, until it is empty.
    compact: async () => {
      await plane.compact();
      await plane.restartApiserver();
      await eventually(servesAll, { what: 'all caches are filled' });
    },
  }),
});
