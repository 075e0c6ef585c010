// A real kube-apiserver speaks the recorded dialogues, so that they stay its own words when its version
// changes. `RECORD=1 node --test test/kube/behaviour/real.e2e.ts` records them anew.

import { after, before } from 'node:test';
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
    },
  }),
});
