// BigFleet as its owner installs it (kubernetes §7.2, behaviours 14 and 17): the five steps of the operator
// guide as printed, onto a node that runs the real images; then a Pending Pod runs on a machine that the fleet
// made for it.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { eventually } from '../toolkit/index.ts';
import { skipWithout } from './binaries.ts';
import { installSteps, registration } from './charts/guide.ts';
import { listAll, type Stored } from './demand.ts';
import { Installation } from './installed/installation.ts';
import { pod, podsPath } from './pods-and-requests.ts';

const NAMESPACE = 'bigfleet-system';
const IMAGES = ['bigfleet', 'bigfleet-operator', 'bigfleet-unschedulable-pod-controller'];
/** Of the charts: what an owner gets who names no tag. */
const FIRST = { images: IMAGES, tag: 'v0.1.0', revision: 'first' };
const NEXT = { images: IMAGES, tag: 'next', revision: 'next' };
const WORKLOADS = [
  'statefulset/bigfleet-coordinator',
  'statefulset/bigfleet-shard',
  'deployment/bigfleet-operator',
  'deployment/bigfleet-unschedulable-pod-controller',
];
/** More than the node of BigFleet's own Pods has. */
const CPU_MILLIS = 2_500;

const missing = skipWithout('controlPlane', 'helm');
const begun =
  missing === false
    ? await Installation.begin({
        builds: [FIRST, NEXT],
        offers: [{ instanceType: 'std-4', zone: 'a', count: 16 }],
      })
    : { ok: false as const, reason: missing };
const skip = begun.ok ? false : begun.reason;
after(async () => {
  if (begun.ok) await begun.cluster[Symbol.asyncDispose]();
});

function theCluster(): Installation {
  if (!begun.ok) throw new Error(begun.reason);
  return begun.cluster;
}

async function rolledOut(): Promise<void> {
  for (const one of WORKLOADS) {
    await theCluster().shell.run(
      `kubectl --namespace ${NAMESPACE} rollout status ${one} --timeout=110s`,
    );
  }
}

async function runs(namespace: string, count: number): Promise<readonly Stored[]> {
  const { plane } = theCluster();
  return eventually(
    async () => {
      const all = await listAll(plane.admin, podsPath(namespace));
      const running = all.filter(({ status }) => status?.['phase'] === 'Running');
      return running.length === count && running;
    },
    { what: `${count} Pods run`, everyMs: 250 },
  );
}

test('14. The five install steps of the operator guide as printed, then a Pending Pod runs', {
  skip,
}, async (t) => {
  theCluster().plane.explainFailures(t, () => theCluster().node.tails());
  const { shell, plane, node } = theCluster();
  const steps = installSteps();
  const look = steps.pop() ?? '';
  assert.equal(steps.length, 4);
  for (const text of steps) await shell.run(text);
  await rolledOut();
  await theCluster().installProvider('bigfleet-provider-example', NAMESPACE);
  const registered = await eventually(
    async () => {
      const outcome = await node.exec('bigfleet-coordinator-0', ...registration());
      return outcome.code === 0 && outcome;
    },
    { what: 'registered' },
  );
  assert.match(registered.stdout, /^registered provider example /);
  await plane.namespace('shop');
  await plane.admin.must(plane.admin.create(podsPath('shop'), pod('web', CPU_MILLIS)));
  const [web] = await runs('shop', 1);
  assert.match(String(web?.spec['nodeName']), /^host-std-4-a-/);
  await shell.run(look);
  assert.deepEqual([...node.problems], []);
});
