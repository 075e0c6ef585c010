// The founding walk-through on a real control plane: a Pod becomes a request, the request a machine, the machine
// a Node, and the Pod runs; the Pod goes, and so does all of it.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../../toolkit/index.ts';
import type { Json } from '../api.ts';
import { skipWithout } from '../binaries.ts';
import { startWorld, type World } from './world.ts';

const skip = skipWithout('controlPlane', 'helm');
const OURS = '/apis/bigfleet.lucy.sh/v1alpha1';
let world: World;

before(async () => {
  if (skip === false) world = await startWorld({ hasTls: true });
});

after(async () => {
  await world?.[Symbol.asyncDispose]();
});

async function items(path: string): Promise<readonly Json[]> {
  const { admin } = world.plane;
  return (await admin.must(admin.get(path)))['items'] as readonly Json[];
}

test('a Pod gets a machine and runs; without it the machine goes', { skip }, async (t) => {
  world.explainFailures(t);
  const { admin } = world.plane;
  const namespace = await world.plane.namespace('walk');
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const requests = `${OURS}/namespaces/${namespace}/capacityrequests`;
  const resources = { requests: { cpu: '3', memory: '1Gi' } };
  await admin.must(
    admin.create(pods, {
      metadata: { name: 'a' },
      spec: { containers: [{ name: 'main', image: 'app:1', resources }] },
    }),
  );
  await eventually(
    async () => {
      const [request] = await items(requests);
      return JSON.stringify(request ?? {}).includes('"phase":"Acknowledged"');
    },
    { what: 'the request is acknowledged' },
  );
  const ready = await eventually(
    async () =>
      (await items(`${OURS}/upcomingnodes`)).find(
        (one) => (one['status'] as Json | undefined)?.['phase'] === 'Ready',
      ),
    { what: 'an UpcomingNode is Ready' },
  );
  const { nodeRef } = ready['status'] as { readonly nodeRef: { readonly name: string } };
  assert.equal((await admin.get(`/api/v1/nodes/${nodeRef.name}`)).status, 200);
  await eventually(
    async () => {
      const { spec, status } = (await admin.must(admin.get(`${pods}/a`))) as {
        readonly spec: Json;
        readonly status: Json;
      };
      return status['phase'] === 'Running' && spec['nodeName'] === nodeRef.name;
    },
    { what: 'the Pod runs on that node' },
  );
  assert.equal((await items(`${OURS}/upcomingnodes`)).length, 1);
  await admin.must(admin.delete(`${pods}/a`));
  for (const [what, path] of [
    ['the request', requests],
    ['the UpcomingNode', `${OURS}/upcomingnodes`],
    ['the Node', '/api/v1/nodes'],
  ] as const) {
    await eventually(async () => (await items(path)).length === 0, { what: `${what} is gone` });
  }
  assert.deepEqual(
    world.machines.acts.slice(0, 3).map((act) => act.split(' ')[0]),
    ['create', 'configure', 'drain'],
  );
});
