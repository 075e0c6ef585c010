// Proves the operator's half of a reclaim (kubernetes §4.3, shard §4.5): cordon, STARTED, drain,
// FINISHED; one drain per node; repeats; what a classic shard gets; drains outlive streams.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NodeDrainOutcome, ReclaimPhase, RpcError } from '@bigfleet/wire';
import { inWorld, type World } from './testing/world.ts';

interface InstructionInit {
  readonly nodes: string[];
  readonly machineIds?: string[];
  readonly graceSeconds?: number;
  readonly preemptorPriority?: number;
}

function instruct(world: World, instructionId: string, init: InstructionInit): void {
  const { nodes, machineIds = [], graceSeconds = 600, preemptorPriority = 0 } = init;
  const gracePeriodSeconds = BigInt(graceSeconds);
  const reasonCode = 'excess';
  world.shard.session.send({
    case: 'reclaimInstruction',
    value: { instructionId, nodes, machineIds, gracePeriodSeconds, preemptorPriority, reasonCode },
  });
}

type Ack = [id: string, phase: string, nodesStarted: number, results: string];

const PHASES = new Map<number, string>(
  Object.entries(ReclaimPhase).map(([name, number]) => [number, name]),
);
const OUTCOMES = new Map<number, string>(
  Object.entries(NodeDrainOutcome).map(([name, number]) => [number, name]),
);

function acks(world: World): Ack[] {
  return world.shard.session
    .all('reclaimAck')
    .map(({ instructionId, phase, nodesStarted, results }) => [
      instructionId,
      PHASES.get(phase) ?? '?',
      nodesStarted,
      results.map(({ node, outcome }) => `${node}:${OUTCOMES.get(outcome)}`).join(' '),
    ]);
}

const DRAINS = 'bigfleet_operator_drain_duration_seconds';

describe('a reclaim', () => {
  it('is acked after the cordon and again when the node is empty', async () => {
    await inWorld({}, async (world) => {
      const node = world.cluster.node('n1');
      world.cluster.writeMs = 500;
      await world.run(1_000);
      instruct(world, 'i1', { nodes: ['n1'], machineIds: ['m1'], preemptorPriority: 9 });
      await world.run(200);
      assert.deepEqual(acks(world), []);
      await world.run(800);
      assert.equal(node.isCordoned, true);
      assert.deepEqual(acks(world), [['i1', 'STARTED', 1, '']]);
      await world.run(60_000);
      world.cluster.empty('n1');
      await world.run(100);
      assert.deepEqual(acks(world).slice(1), [['i1', 'FINISHED', 1, 'n1:EMPTY']]);
      const [cordon] = world.cluster.cordons;
      assert.deepEqual(
        [cordon?.machineId, cordon?.instructionId, cordon?.reasonCode, cordon?.preemptorPriority],
        ['m1', 'i1', 'excess', 9],
      );
      const startMs = 1_000 + Number(world.time.runtime.clock.unixNanos() / 1_000_000n) - 62_100;
      const graceMs = (cordon?.deadlineUnixMs ?? 0) - startMs;
      assert.ok(Math.abs(graceMs - 600_000) < 50, String(graceMs));
      const [line = ''] = world.logged('reclaim instruction');
      assert.match(line, /id=i1 nodes=.*n1.* grace_seconds=600 preemptor_priority=9/);
      assert.equal(await world.metric(`${DRAINS}_count{outcome="empty"}`), 1);
      const [end = '', ...more] = world.logged('drain finished');
      assert.match(end, /id=i1 node=n1 machine=m1 outcome=empty seconds=60\.\d+$/);
      assert.deepEqual([...more, ...world.logged('drain failed')], []);
    });
  });

  it('ends at the grace with what is left', async () => {
    await inWorld({}, async (world) => {
      world.cluster.node('n1', 3);
      await world.run(1_000);
      instruct(world, 'i1', { nodes: ['n1'], graceSeconds: 30 });
      await world.run(29_000);
      assert.equal(acks(world).length, 1);
      await world.run(2_000);
      assert.deepEqual(acks(world)[1], ['i1', 'FINISHED', 1, 'n1:DEADLINE']);
      const [, finished] = world.shard.session.all('reclaimAck');
      assert.equal(finished?.results[0]?.podsRemaining, 3);
      const [end = ''] = world.logged('drain finished');
      assert.match(end, /id=i1 node=n1 .*outcome=deadline.* pods_remaining=3/);
      assert.equal(world.logged('drain failed; UpcomingNode → Failed').length, 1);
    });
  });

  for (const graceSeconds of [0, -5]) {
    it(`with a grace of ${graceSeconds} gets 30 s`, async () => {
      await inWorld({}, async (world) => {
        world.cluster.node('n1');
        await world.run(1_000);
        instruct(world, 'i1', { nodes: ['n1'], graceSeconds });
        await world.run(1_000);
        assert.equal(Math.round((world.cluster.drains[0]?.remainingMs ?? 0) / 1_000), 30);
      });
    });
  }

  it('counts only nodes that exist, and reports the others', async () => {
    await inWorld({}, async (world) => {
      world.cluster.node('n1', 0);
      await world.run(1_000);
      instruct(world, 'i1', { nodes: ['n1', 'ghost'], machineIds: ['m1', 'm2'] });
      await world.run(1_000);
      assert.deepEqual(acks(world), [
        ['i1', 'STARTED', 1, ''],
        ['i1', 'FINISHED', 1, 'n1:EMPTY ghost:NODE_NOT_FOUND'],
      ]);
      assert.equal(await world.metric('bigfleet_operator_reclaim_unresolved_total'), 1);
      const unresolved = world.logged('reclaim target is no node of this cluster');
      assert.match(unresolved[0] ?? '', /node=ghost machine=m2/);
    });
  });

  it('reports a forbidden eviction at once', async () => {
    await inWorld({}, async (world) => {
      world.cluster.node('n1').isForbidden = true;
      await world.run(1_000);
      instruct(world, 'i1', { nodes: ['n1'] });
      await world.run(1_000);
      const [, finished] = world.shard.session.all('reclaimAck');
      assert.equal(finished?.results[0]?.outcome, NodeDrainOutcome.FORBIDDEN);
      assert.match(finished.results[0].error, /forbidden/);
    });
  });

  it('drains although the cordon failed', async () => {
    await inWorld({}, async (world) => {
      world.cluster.node('n1', 0);
      await world.run(1_000);
      world.cluster.failingWrites = 1;
      instruct(world, 'i1', { nodes: ['n1'] });
      await world.run(1_000);
      assert.deepEqual(acks(world), [
        ['i1', 'STARTED', 0, ''],
        ['i1', 'FINISHED', 0, 'n1:EMPTY'],
      ]);
      assert.equal(world.logged('cordon failed').length, 1);
    });
  });

  it('repeats a failing drain until the deadline, never reporting early', async () => {
    await inWorld({}, async (world) => {
      world.cluster.node('n1', 0).failures = 3;
      await world.run(1_000);
      instruct(world, 'i1', { nodes: ['n1'], graceSeconds: 60 });
      await world.run(14_000);
      assert.equal(acks(world).length, 1);
      await world.run(2_000);
      assert.deepEqual(acks(world)[1], ['i1', 'FINISHED', 1, 'n1:EMPTY']);
      assert.equal(world.cluster.drains.length, 4);
      world.cluster.node('n2').failures = 1_000;
      instruct(world, 'i2', { nodes: ['n2'], graceSeconds: 30 });
      await world.run(29_000);
      assert.equal(acks(world).length, 3);
      await world.run(2_000);
      assert.deepEqual(acks(world)[3], ['i2', 'FINISHED', 1, 'n2:DEADLINE']);
    });
  });

  it('drains the nodes of one instruction at the same time', async () => {
    await inWorld({}, async (world) => {
      for (const name of ['a', 'b', 'c']) world.cluster.node(name);
      await world.run(1_000);
      instruct(world, 'i1', { nodes: ['a', 'b', 'c'], graceSeconds: 60 });
      await world.run(1_000);
      assert.equal(world.cluster.drains.length, 3);
      world.cluster.empty('c');
      await world.run(61_000);
      assert.deepEqual(acks(world)[1], ['i1', 'FINISHED', 3, 'a:DEADLINE b:DEADLINE c:EMPTY']);
    });
  });

  it('without nodes is answered, too', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      instruct(world, 'i1', { nodes: [] });
      await world.run(100);
      assert.deepEqual(acks(world), [
        ['i1', 'STARTED', 0, ''],
        ['i1', 'FINISHED', 0, ''],
      ]);
    });
  });

  it('is not held up by a storm of node states', async () => {
    await inWorld({}, async (world) => {
      world.cluster.node('n1', 0);
      world.cluster.writeMs = 100;
      await world.run(1_000);
      for (let n = 0; n < 2_000; n++) {
        world.shard.session.send({ case: 'nodeStateUpdate', value: { machineId: `m${n}` } });
      }
      instruct(world, 'i1', { nodes: ['n1'] });
      await world.run(400);
      assert.equal(acks(world)[0]?.[1], 'STARTED');
      assert.ok(world.cluster.states.length < 200, String(world.cluster.states.length));
    });
  });
});

describe('repeated instructions', () => {
  it('join the running drain and may only shorten it', async () => {
    await inWorld({}, async (world) => {
      world.cluster.node('n1');
      await world.run(1_000);
      instruct(world, 'slow', { nodes: ['n1'], machineIds: ['m1'], graceSeconds: 600 });
      await world.run(1_000);
      instruct(world, 'fast', { nodes: ['n1'], machineIds: ['m1'], graceSeconds: 10 });
      await world.run(1_000);
      instruct(world, 'late', { nodes: ['n1'], machineIds: ['m1'], graceSeconds: 600 });
      await world.run(8_000);
      assert.equal(acks(world).filter(([, phase]) => phase === 'FINISHED').length, 0);
      await world.run(2_000);
      const finished = acks(world).filter(([, phase]) => phase === 'FINISHED');
      assert.deepEqual(finished.map(([id, , , results]) => `${id} ${results}`).sort(), [
        'fast n1:DEADLINE',
        'late n1:DEADLINE',
        'slow n1:DEADLINE',
      ]);
      assert.equal(world.cluster.drains.length, 1);
    });
  });

  it('under the same id are answered again and change nothing', async () => {
    await inWorld({}, async (world) => {
      world.cluster.node('n1');
      await world.run(1_000);
      instruct(world, 'i1', { nodes: ['n1'] });
      await world.run(1_000);
      instruct(world, 'i1', { nodes: ['n1'] });
      await world.run(1_000);
      assert.deepEqual(acks(world), [
        ['i1', 'STARTED', 1, ''],
        ['i1', 'STARTED', 1, ''],
      ]);
      world.cluster.empty('n1');
      await world.run(1_000);
      instruct(world, 'i1', { nodes: ['n1'] });
      await world.run(1_000);
      assert.deepEqual(acks(world).slice(2), [
        ['i1', 'FINISHED', 1, 'n1:EMPTY'],
        ['i1', 'STARTED', 1, ''],
        ['i1', 'FINISHED', 1, 'n1:EMPTY'],
      ]);
      assert.deepEqual([world.cluster.cordons.length, world.cluster.drains.length], [1, 1]);
    });
  });

  it('under a new id drain a node anew that was empty before', async () => {
    await inWorld({}, async (world) => {
      const node = world.cluster.node('n1', 0);
      await world.run(1_000);
      instruct(world, 'i1', { nodes: ['n1'], machineIds: ['m1'] });
      await world.run(1_000);
      node.podCount = 2;
      instruct(world, 'i2', { nodes: ['n1'], machineIds: ['m1'] });
      await world.run(1_000);
      assert.deepEqual(
        acks(world).map(([id, phase]) => `${id} ${phase}`),
        ['i1 STARTED', 'i1 FINISHED', 'i2 STARTED'],
      );
      assert.equal(world.cluster.drains.length, 2);
    });
  });

  it('are forgotten a minute after their grace', async () => {
    await inWorld({}, async (world) => {
      world.cluster.node('n1', 0);
      await world.run(1_000);
      instruct(world, 'i1', { nodes: ['n1'], graceSeconds: 10 });
      await world.run(72_000);
      instruct(world, 'other', { nodes: [] });
      await world.run(1_000);
      instruct(world, 'i1', { nodes: ['n1'], graceSeconds: 10 });
      await world.run(1_000);
      assert.equal(world.cluster.cordons.length, 2);
    });
  });
});

describe('reclaims and sessions', () => {
  it('a classic shard gets one ack per instruction', async () => {
    await inWorld({}, async (world) => {
      world.shard.behaviour.extensions = [];
      world.cluster.node('n1', 0);
      await world.run(1_000);
      instruct(world, 'i1', { nodes: ['n1'] });
      await world.run(1_000);
      assert.deepEqual(acks(world), [['i1', 'UNSPECIFIED', 1, '']]);
      assert.equal(world.cluster.drains.length, 1);
    });
  });

  it('a drain outlives its stream, and the repeated instruction gets its outcome', async () => {
    await inWorld({}, async (world) => {
      world.cluster.node('n1');
      await world.run(1_000);
      instruct(world, 'i1', { nodes: ['n1'] });
      await world.run(1_000);
      world.network.apply({ kind: 'refuse', address: 'shard:7780' });
      world.shard.session.end(new RpcError('UNAVAILABLE', 'restart'));
      await world.run(5_000);
      world.cluster.empty('n1');
      await world.run(5_000);
      world.network.apply({ kind: 'admit', address: 'shard:7780' });
      await world.run(40_000);
      assert.deepEqual(acks(world), []);
      instruct(world, 'i1', { nodes: ['n1'], graceSeconds: 500 });
      await world.run(1_000);
      assert.deepEqual(acks(world), [
        ['i1', 'STARTED', 1, ''],
        ['i1', 'FINISHED', 1, 'n1:EMPTY'],
      ]);
      assert.equal(world.cluster.drains.length, 1);
    });
  });

  it('drains of an earlier process go on before any session, and are joined', async () => {
    await inWorld({}, async (world) => {
      world.cluster.node('n1');
      const unixMs = Number(world.time.runtime.clock.unixNanos() / 1_000_000n);
      const target = { node: 'n1', machineId: 'm1' };
      world.cluster.interrupted = [
        { target, instructionId: 'i1', deadlineUnixMs: unixMs + 60_000 },
      ];
      world.network.apply({ kind: 'refuse', address: 'shard:7780' });
      await world.run(100);
      assert.equal(world.cluster.drains[0]?.remainingMs, 60_000);
      world.network.apply({ kind: 'admit', address: 'shard:7780' });
      await world.run(20_000);
      instruct(world, 'i1', { nodes: ['n1'], machineIds: ['m1'] });
      await world.run(39_000);
      assert.equal(acks(world).length, 1);
      await world.run(2_000);
      assert.deepEqual(acks(world)[1], ['i1', 'FINISHED', 1, 'n1:DEADLINE']);
      assert.equal(world.cluster.drains.length, 1);
    });
  });

  it('a stop during the cordon reports nothing either', async () => {
    await inWorld({}, async (world) => {
      world.cluster.node('n1');
      world.cluster.writeMs = 2_000;
      await world.run(1_000);
      instruct(world, 'i1', { nodes: ['n1'] });
      await world.run(1_000);
      world.stop();
      await world.run(5_000);
      assert.deepEqual(acks(world), []);
      for (const outcome of ['empty', 'deadline', 'forbidden', 'node_not_found']) {
        assert.equal(await world.metric(`${DRAINS}_count{outcome="${outcome}"}`), 0);
      }
    });
  });

  it('a stop leaves drains to the next process, without a report', async () => {
    await inWorld({}, async (world) => {
      world.cluster.node('n1');
      await world.run(1_000);
      instruct(world, 'i1', { nodes: ['n1'] });
      await world.run(1_000);
      world.stop();
      await world.run(1_000);
      assert.equal(acks(world).length, 1);
      assert.equal(await world.metric(`${DRAINS}_count{outcome="deadline"}`), 0);
      assert.deepEqual(world.logged('drain finished'), []);
    });
  });
});
