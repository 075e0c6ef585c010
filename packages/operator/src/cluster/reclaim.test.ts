// Proves kubernetes §4.3 on the test API server: what becomes of an instruction, of the Node when its machine has
// left, and of a process that dies in between.

import assert from 'node:assert/strict';
import test from 'node:test';
import { MachineState } from '@bigfleet/wire';
import { PODS_PATH, type StoredObject } from '@bigfleet/kube/testing';
import { type ClusterWorld, NODES_PATH, OURS, served, started } from './testing/cluster-world.ts';

async function cordoned(world: ClusterWorld, graceMs: number): Promise<string> {
  const plan = {
    instructionId: 'i1',
    deadlineUnixMs: world.nowUnixMs() + graceMs,
    preemptorPriority: 0,
    reasonCode: '',
  };
  const target = { node: 'm1', machineId: 'm1' };
  const outcome = world.cluster.cordon(target, plan, new AbortController().signal);
  await world.time.runFor(2_000);
  return (await outcome).kind;
}

const target = { node: 'm1', machineId: 'm1' };

test('a node named by its machine is cordoned and emptied by evictions; daemons and mirrors stay', async () => {
  const world = await started();
  await served(world);
  const { metadata } = world.ask('POST', '/apis/apps/v1/namespaces/default/daemonsets', {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'd' },
    spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } } } },
  }) as unknown as StoredObject;
  const daemon = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    name: 'd',
    uid: metadata.uid,
    controller: true,
  };
  world.pod('web', 'node-a');
  world.pod('daemon', 'node-a', { ownerReferences: [daemon] });
  world.pod('mirror', 'node-a', { annotations: { 'kubernetes.io/config.mirror': 'x' } });
  assert.equal(await cordoned(world, 60_000), 'cordoned');
  assert.equal(world.get(`${NODES_PATH}/node-a`).spec['unschedulable'], true);
  assert.equal(world.get(`${OURS}/upcomingnodes/un-m1`).status?.['phase'], 'Draining');
  const drained = world.cluster.drain(target, world.control(60_000));
  await world.live(10_000);
  assert.deepEqual(await drained, { kind: 'empty' });
  const left = world.list(PODS_PATH).map(({ metadata }) => metadata.name);
  assert.deepEqual(left.sort(), ['daemon', 'mirror']);
  assert.equal(world.get(`${OURS}/upcomingnodes/un-m1`).status?.['phase'], 'Drained');
  world.stop();
});

test('a budget holds an eviction back until it is loosened', async () => {
  const world = await started();
  await served(world);
  world.pod('web', 'node-a', { labels: { app: 'db' } });
  world.budget('db', { app: 'db' }, 1);
  await world.time.runFor(2_000);
  await cordoned(world, 600_000);
  const drained = world.cluster.drain(target, world.control(600_000));
  await world.live(60_000);
  assert.equal(world.list(PODS_PATH).length, 1);
  assert.ok(world.evictions.includes('blocked'));
  world.merge('/apis/policy/v1/namespaces/default/poddisruptionbudgets/db', {
    spec: { minAvailable: 0 },
  });
  await world.live(20_000);
  assert.deepEqual(await drained, { kind: 'empty' });
  world.stop();
});

test('a budget that is never loosened ends the drain at its deadline, and the Pod lives', async () => {
  const world = await started();
  await served(world);
  world.pod('web', 'node-a', { labels: { app: 'db' } });
  world.budget('db', { app: 'db' }, 1);
  await world.time.runFor(2_000);
  await cordoned(world, 30_000);
  const drained = world.cluster.drain(target, world.control(30_000));
  await world.live(40_000);
  assert.deepEqual(await drained, { kind: 'deadline', podsRemaining: 1 });
  const { status } = world.get(`${OURS}/upcomingnodes/un-m1`);
  assert.equal(status?.['phase'], 'Failed');
  assert.match(String(status?.['lastError']), /^drain: .*pods remaining: 1/);
  assert.equal(world.list(PODS_PATH).length, 1);
  // The provider empties the machine all the same, and then it has left.
  await world.frame('m1', MachineState.IDLE);
  assert.deepEqual(world.list(`${OURS}/upcomingnodes`), []);
  world.stop();
});

const EVICTIONS = { methods: ['POST'], pathPrefix: PODS_PATH };
const POD_LISTS = { methods: ['GET'], pathPrefix: '/api/v1/pods' };

for (const [what, match] of [
  ['evictions', EVICTIONS],
  ['lists of Pods', POD_LISTS],
] as const) {
  test(`a lasting 403 to ${what} ends a drain after ten seconds, or with its grace, with the reason`, async () => {
    for (const [graceMs, goesOnMs] of [
      [600_000, 9_000],
      [8_000, 5_000],
    ] as const) {
      const world = await started();
      await served(world);
      world.pod('web', 'node-a');
      world.server.faults.add(match, { kind: 'refuse', code: 403 });
      const drained = world.cluster.drain(target, world.control(graceMs));
      await world.time.runFor(goesOnMs);
      assert.equal(await Promise.race([drained, Promise.resolve('goes on')]), 'goes on');
      await world.time.runFor(4_000);
      const outcome = await Promise.race([drained, Promise.resolve('goes on' as const)]);
      assert.ok(outcome !== 'goes on' && outcome.kind === 'forbidden');
      assert.match(outcome.error, /HTTP 403/);
      const { status } = world.get(`${OURS}/upcomingnodes/un-m1`);
      assert.match(String(status?.['lastError']), /^drain: .*HTTP 403/);
      world.stop();
    }
  });

  test(`a server that starts and answers ${what} with 403 or 500 for some seconds ends no drain`, async () => {
    for (const action of [
      { kind: 'refuse', code: 403 },
      { kind: 'refuse', code: 500 },
      { kind: 'reset' },
    ] as const) {
      const world = await started();
      await served(world);
      world.pod('web', 'node-a');
      const mend = world.server.faults.add(match, action);
      const drained = world.cluster.drain(target, world.control(600_000));
      await world.live(7_000);
      assert.equal(world.get(`${PODS_PATH}/web`).metadata.deletionTimestamp, undefined);
      mend();
      // The loop of two seconds, and no longer pause, finds the server well.
      await world.live(3_000);
      assert.equal(world.list(PODS_PATH).length, 0);
      await world.live(3_000);
      assert.deepEqual(await Promise.race([drained, Promise.resolve('goes on')]), {
        kind: 'empty',
      });
      world.stop();
    }
  });
}

test('a target that names no node is said so', async () => {
  const world = await started();
  assert.equal(await cordoned(world, 1_000), 'not_found');
  const drained = world.cluster.drain(target, world.control(1_000));
  await world.time.runFor(100);
  assert.deepEqual(await drained, { kind: 'node_not_found' });
  world.stop();
});

/** Machine `m1` serves as Node `node-a`, and the operator's watch of Nodes has not shown it. */
async function servedUnseen(world: ClusterWorld): Promise<void> {
  world.server.faults.setSilent({ pathPrefix: NODES_PATH }, true);
  await served(world);
  assert.equal(world.cluster.nodeLinkOf('m1'), undefined);
}

test('a Node that the watch has not shown is cordoned, emptied and deleted all the same', async () => {
  const world = await started();
  await servedUnseen(world);
  world.pod('web', 'node-a');
  assert.equal(await cordoned(world, 60_000), 'cordoned');
  assert.equal(world.get(`${NODES_PATH}/node-a`).spec['unschedulable'], true);
  const drained = world.cluster.drain(target, world.control(60_000));
  await world.live(10_000);
  assert.deepEqual(await drained, { kind: 'empty' });
  assert.equal(world.list(PODS_PATH).length, 0);
  const mark = world.get(`${NODES_PATH}/node-a`).metadata.annotations?.['bigfleet.lucy.sh/reclaim'];
  assert.match(mark ?? '', /"over":true/);
  assert.equal(world.cluster.nodeLinkOf('m1'), undefined);
  await world.frame('m1', MachineState.IDLE);
  assert.deepEqual(world.list(NODES_PATH), []);
  assert.deepEqual(world.list(`${OURS}/upcomingnodes`), []);
  world.stop();
});

test('two Nodes with the label of one machine are neither cordoned nor deleted', async () => {
  const world = await started();
  await servedUnseen(world);
  world.node('node-b', { machine: 'm1' });
  assert.equal(await cordoned(world, 60_000), 'not_found');
  await world.frame('m1', MachineState.IDLE);
  assert.equal(world.list(NODES_PATH).length, 2);
  world.stop();
});

test('the sweep deletes a stopped Node of its machine that the watch has not shown, and keeps a Ready one', async () => {
  for (const status of ['True', 'Unknown']) {
    const world = await started();
    await servedUnseen(world);
    const conditions = [{ type: 'Ready', status }];
    world.merge(`${NODES_PATH}/node-a/status`, { status: { conditions } });
    const swept = world.cluster.sweepMachines(new Set(), new AbortController().signal);
    await world.time.runFor(2_000);
    await swept;
    const left = [...world.list(NODES_PATH), ...world.list(`${OURS}/upcomingnodes`)];
    assert.equal(left.length, status === 'True' ? 2 : 0);
    world.stop();
  }
});

test('the sweep deletes no Node that is Ready again, however late the watch is', async () => {
  const world = await started();
  await served(world);
  const setReady = (status: string): void => {
    const conditions = [{ type: 'Ready', status }];
    world.merge(`${NODES_PATH}/node-a/status`, { status: { conditions } });
  };
  setReady('Unknown');
  await world.time.runFor(1_000);
  world.server.faults.setSilent({ pathPrefix: NODES_PATH }, true);
  setReady('True');
  const swept = world.cluster.sweepMachines(new Set(), new AbortController().signal);
  const failed = assert.rejects(swept, /Ready again/);
  await world.time.runFor(2_000);
  await failed;
  assert.equal(world.list(NODES_PATH).length, 1);
  assert.equal(world.list(`${OURS}/upcomingnodes`).length, 1);
  world.stop();
});

test('an operator that died in a drain finds it again; one that had ended it does not', async () => {
  const world = await started();
  await served(world);
  world.pod('web', 'node-a');
  await cordoned(world, 600_000);
  await world.restart();
  const [interrupted, ...others] = world.cluster.interruptedDrains();
  assert.deepEqual(others, []);
  assert.equal(interrupted?.instructionId, 'i1');
  assert.deepEqual(interrupted?.target, { node: 'node-a', machineId: 'm1' });
  const drained = world.cluster.drain(target, world.control(60_000));
  await world.live(20_000);
  assert.deepEqual(await drained, { kind: 'empty' });
  await world.restart();
  assert.deepEqual(world.cluster.interruptedDrains(), []);
  world.stop();
});

test('a drain whose grace ended while no operator ran has failed, says so, and evicts nobody', async () => {
  const world = await started();
  await served(world);
  world.pod('web', 'node-a');
  await cordoned(world, 1_000);
  await world.restart();
  await world.time.runFor(60_000);
  const [interrupted] = world.cluster.interruptedDrains();
  assert.ok(interrupted !== undefined && interrupted.deadlineUnixMs < world.nowUnixMs());
  const drained = world.cluster.drain(interrupted.target, world.control(0));
  await world.time.runFor(5_000);
  const error = 'it ended while no operator was draining, pods remaining: unknown';
  assert.deepEqual(await drained, { kind: 'deadline', podsRemaining: 0, error });
  const { status } = world.get(`${OURS}/upcomingnodes/un-m1`);
  assert.deepEqual(
    [status?.['phase'], status?.['lastError']],
    ['Failed', `drain: the grace is over, ${error}`],
  );
  assert.equal(world.list(PODS_PATH)[0]?.metadata.deletionTimestamp, undefined);
  world.stop();
});

test('a drain that never saw the Pods of its node says so, and not that none is left', async () => {
  const world = await started();
  await served(world);
  world.pod('web', 'node-a');
  await cordoned(world, 5_000);
  world.server.faults.add({ methods: ['GET'], pathPrefix: '/api/v1/pods' }, { kind: 'hang' });
  const drained = world.cluster.drain(target, world.control(5_000));
  await world.time.runFor(20_000);
  const error = 'the Pods of the node could not be listed, pods remaining: unknown';
  assert.deepEqual(await drained, { kind: 'deadline', podsRemaining: 0, error });
  world.stop();
});

test('an operator that is stopped in a drain leaves it to the next, and tells nobody that it failed', async () => {
  const world = await started();
  await served(world);
  world.pod('web', 'node-a', { labels: { app: 'db' } });
  world.budget('db', { app: 'db' }, 1);
  await world.time.runFor(2_000);
  await cordoned(world, 600_000);
  const stop = new AbortController();
  const control = { ...world.control(600_000), signal: stop.signal, isInterrupted: true };
  const drained = world.cluster.drain(target, control);
  await world.time.runFor(5_000);
  stop.abort(new Error('the operator stops'));
  await world.time.runFor(5_000);
  await drained;
  assert.equal(world.get(`${OURS}/upcomingnodes/un-m1`).status?.['phase'], 'Draining');
  await world.restart();
  assert.deepEqual(
    world.cluster.interruptedDrains().map((each) => each.instructionId),
    ['i1'],
  );
  world.stop();
});

test('a replayed Configured does not undo a drain under way', async () => {
  const world = await started();
  await served(world);
  world.pod('web', 'node-a');
  await cordoned(world, 600_000);
  assert.equal(await world.frame('m1', MachineState.CONFIGURED), 'Draining');
  assert.equal(world.get(`${NODES_PATH}/node-a`).spec['unschedulable'], true);
  world.stop();
});

function isDrained(world: ClusterWorld): boolean {
  const { spec, metadata } = world.get(`${NODES_PATH}/node-a`);
  const isMarked = metadata.annotations?.['bigfleet.lucy.sh/reclaim'] !== undefined;
  assert.equal(spec['unschedulable'] === true, isMarked);
  return isMarked;
}

test('a drain that a restarted shard forgot is given up, and evicts nobody any more', async () => {
  const world = await started();
  await served(world);
  world.pod('web', 'node-a', { labels: { app: 'db' } });
  world.budget('db', { app: 'db' }, 1);
  await world.time.runFor(2_000);
  await cordoned(world, 600_000);
  const drained = world.cluster.drain(target, world.control(600_000));
  await world.time.runFor(5_000);
  await world.frame('m1', MachineState.CONFIGURED);
  await world.time.runFor(25_000);
  assert.ok(isDrained(world), 'the instruction may come again');
  await world.time.runFor(10_000);
  assert.ok(!isDrained(world));
  assert.deepEqual(await Promise.race([drained, Promise.resolve('goes on')]), { kind: 'given_up' });
  assert.equal(world.get(`${OURS}/upcomingnodes/un-m1`).status?.['phase'], 'Ready');
  assert.ok(world.chores.includes('given up m1'));
  world.merge('/apis/policy/v1/namespaces/default/poddisruptionbudgets/db', {
    spec: { minAvailable: 0 },
  });
  await world.live(10_000);
  assert.equal(world.get(`${PODS_PATH}/web`).metadata.deletionTimestamp, undefined);
  world.stop();
});

test('so is one that had ended, also when its grace is over by then', async () => {
  const world = await started();
  await served(world);
  await cordoned(world, 20_000);
  const drained = world.cluster.drain(target, world.control(20_000));
  await world.time.runFor(5_000);
  assert.deepEqual(await drained, { kind: 'empty' });
  assert.equal(await world.frame('m1', MachineState.CONFIGURED), 'Drained');
  await world.time.runFor(40_000);
  assert.ok(!isDrained(world));
  assert.equal(world.get(`${OURS}/upcomingnodes/un-m1`).status?.['phase'], 'Ready');
  world.stop();
});

test('a drain goes on when the shard drains too, or instructs again', async () => {
  for (const word of ['state', 'instruction'] as const) {
    const world = await started();
    await served(world);
    await cordoned(world, 600_000);
    for (let frame = 0; frame < 2; frame++) {
      await world.frame('m1', MachineState.CONFIGURED);
      await world.time.runFor(5_000);
    }
    if (word === 'state') await world.frame('m1', MachineState.DRAINING);
    else await cordoned(world, 600_000);
    await world.time.runFor(100_000);
    assert.ok(isDrained(world), word);
    world.stop();
  }
});

test('giving up is tried again when the API server refuses', async () => {
  const world = await started();
  await served(world);
  await cordoned(world, 600_000);
  await world.frame('m1', MachineState.CONFIGURED);
  const path = `${NODES_PATH}/node-a`;
  world.server.faults.add({ pathPrefix: path, methods: ['PATCH'] }, { kind: 'refuse', code: 403 });
  await world.time.runFor(40_000);
  assert.ok(isDrained(world));
  world.server.faults.clear();
  await world.time.runFor(40_000);
  assert.ok(!isDrained(world));
  await world.time.runFor(100_000);
  assert.equal(world.chores.filter((chore) => chore === 'given up m1').length, 2);
  world.stop();
});

test('a machine that comes back onto its old Node is schedulable again', async () => {
  const world = await started();
  await served(world);
  await cordoned(world, 600_000);
  // The Node object outlived the machine's leave: the operator was away when it ended.
  await world.restart();
  await world.frame('m1', MachineState.CONFIGURING);
  assert.equal(await world.frame('m1', MachineState.CONFIGURED), 'Ready');
  const { spec, metadata } = world.get(`${NODES_PATH}/node-a`);
  assert.equal(spec['unschedulable'], undefined);
  assert.equal(metadata.annotations?.['bigfleet.lucy.sh/reclaim'], undefined);
  world.stop();
});

test('a Node that a new kubelet may have taken over is not deleted for the drain before', async () => {
  // The blob is asked for at once, or while the server takes its time over the deletion.
  for (const latency of [0, 2_000]) {
    const world = await started();
    await served(world);
    await cordoned(world, 600_000);
    await world.frame('m1', MachineState.DRAINING);
    const path = `${NODES_PATH}/node-a`;
    world.server.faults.add(
      { pathPrefix: path, methods: ['DELETE'], times: 1 },
      { kind: 'latency', ms: latency },
    );
    world.time.runtime.timers.after(latency / 2, () => {
      world.askForBlob('m1');
      world.merge(path, { metadata: { labels: { boot: 'second' } } });
    });
    assert.equal(await world.frame('m1', MachineState.IDLE), 'Drained');
    assert.equal(world.get(path).metadata.labels?.['boot'], 'second');
    await world.frame('m1', MachineState.CONFIGURING);
    assert.equal(await world.frame('m1', MachineState.CONFIGURED), 'Ready');
    assert.ok(!isDrained(world));
    await world.frame('m1', MachineState.DRAINING);
    await world.frame('m1', MachineState.IDLE);
    assert.deepEqual(world.list(NODES_PATH), []);
    world.stop();
  }
});

test('a Node that others write to meanwhile goes all the same', async () => {
  const world = await started();
  await served(world);
  await world.frame('m1', MachineState.DRAINING);
  const path = `${NODES_PATH}/node-a`;
  world.server.faults.add(
    { pathPrefix: path, methods: ['DELETE'], times: 1 },
    { kind: 'latency', ms: 1_000 },
  );
  const conditions = [{ type: 'Ready', status: 'Unknown' }];
  world.time.runtime.timers.after(500, () => {
    world.merge(`${path}/status`, { status: { conditions } });
  });
  assert.equal(await world.frame('m1', MachineState.IDLE), 'Drained');
  assert.deepEqual(world.list(NODES_PATH), []);
  world.stop();
});

test('a Node that could not be deleted goes with the next sweep', async () => {
  const world = await started();
  await served(world);
  await cordoned(world, 600_000);
  await world.frame('m1', MachineState.DRAINING);
  const path = `${NODES_PATH}/node-a`;
  const refusal = { kind: 'refuse', code: 403 } as const;
  world.server.faults.add({ pathPrefix: path, methods: ['DELETE'] }, refusal);
  await assert.rejects(world.frame('m1', MachineState.IDLE), /403/);
  const conditions = [{ type: 'Ready', status: 'Unknown' }];
  world.merge(`${path}/status`, { status: { conditions } });
  await world.restart();
  const sweep = async (): Promise<void> => {
    const swept = world.cluster.sweepMachines(new Set(), new AbortController().signal);
    await Promise.allSettled([swept, world.time.runFor(5_000)]);
    return swept;
  };
  await assert.rejects(sweep(), /403/);
  world.server.faults.clear();
  await sweep();
  assert.deepEqual(world.list(NODES_PATH), []);
  assert.deepEqual(world.list(`${OURS}/upcomingnodes`), []);
  world.stop();
});

test("a person's cordon is never taken away", async () => {
  const world = await started();
  await served(world);
  world.merge(`${NODES_PATH}/node-a`, { spec: { unschedulable: true } });
  await world.frame('m1', MachineState.CONFIGURING);
  await world.frame('m1', MachineState.CONFIGURED);
  assert.equal(world.get(`${NODES_PATH}/node-a`).spec['unschedulable'], true);
  world.stop();
});
