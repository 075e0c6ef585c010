// Proves what becomes of each frame of the shard (kubernetes §2.4, §4.1): bootstrap answers never
// wait, node states coalesce under a bounded pool, nonsense keeps the stream, secrets stay secret.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { MachineState } from '@bigfleet/wire';
import { BLOB } from './testing/simulated-cluster.ts';
import { inWorld, type World } from './testing/world.ts';

function state(world: World, machineId: string, to: MachineState = MachineState.IDLE): void {
  const supersedesKey = `node:${machineId}`;
  const value = { supersedesKey, machineId, clusterId: 'eu-1', state: to };
  world.shard.session.send({ case: 'nodeStateUpdate', value });
}

function bootstrap(world: World, requestId: string, clusterId = 'eu-1'): void {
  world.shard.session.send({
    case: 'bootstrapRequest',
    value: { requestId, clusterId, machineId: 'm/1', requirements: [] },
  });
}

describe('bootstrap requests', () => {
  it('are answered with the blob, which appears nowhere else', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      bootstrap(world, 'r1');
      await world.run(100);
      const [answer] = world.shard.session.all('bootstrapResponse');
      assert.equal(answer?.requestId, 'r1');
      assert.equal(new TextDecoder().decode(answer.userData), BLOB);
      assert.equal(answer.ttlSeconds, 600n);
      assert.equal(answer.error, '');
      assert.equal(world.cluster.rendered[0]?.machineId, 'm/1');
      const log = world.log.lines.join('\n');
      assert.ok(!log.includes(BLOB) && !log.includes(Buffer.from(BLOB).toString('base64')));
    });
  });

  it('are answered with the reason when the cluster cannot satisfy them', async () => {
    await inWorld({}, async (world) => {
      world.cluster.bootstrap = () => ({ kind: 'unsatisfiable', error: 'unsupported key: gpu' });
      await world.run(1_000);
      bootstrap(world, 'r1');
      await world.run(100);
      const [answer] = world.shard.session.all('bootstrapResponse');
      assert.deepEqual([answer?.error, answer?.userData.length], ['unsupported key: gpu', 0]);
    });
  });

  it('that fail to render are answered without the text of the failure', async () => {
    await inWorld({}, async (world) => {
      world.cluster.bootstrap = () => {
        throw new Error(`template broke at ${BLOB}`);
      };
      await world.run(1_000);
      bootstrap(world, 'r1');
      await world.run(100);
      assert.equal(
        world.shard.session.all('bootstrapResponse')[0]?.error,
        'bootstrap rendering failed',
      );
      assert.match(world.logged('dispatch failed')[0] ?? '', /frame=bootstrap_request/);
      assert.ok(!world.log.lines.join('\n').includes(BLOB));
      assert.equal(world.operator.isConnected, true);
    });
  });

  it('for another cluster get no secret', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      bootstrap(world, 'r1', 'us-9');
      await world.run(100);
      const [answer] = world.shard.session.all('bootstrapResponse');
      assert.match(answer?.error ?? '', /another cluster/);
      assert.deepEqual(world.cluster.rendered, []);
    });
  });

  it('are answered at once while every slot of the pool is taken', async () => {
    await inWorld({}, async (world) => {
      world.cluster.writeMs = 30_000;
      await world.run(1_000);
      for (let n = 0; n < 1_000; n++) state(world, `m${n}`);
      bootstrap(world, 'r1');
      await world.run(100);
      assert.equal(world.cluster.runningWrites, 32);
      assert.equal(await world.metric('bigfleet_operator_dispatch_inflight'), 32);
      assert.equal(world.shard.session.all('bootstrapResponse').length, 1);
    });
  });

  it('beyond 256 unsent answers are dropped, newest first, and counted', async () => {
    await inWorld({ network: { windowBytes: 32 } }, async (world) => {
      await world.run(1_000);
      world.shard.behaviour.isReading = false;
      for (let n = 0; n < 300; n++) bootstrap(world, `r${n}`);
      await world.run(20_000);
      const dropped = (await world.metric('bigfleet_operator_outbox_dropped_total')) ?? 0;
      assert.ok(dropped > 30 && dropped <= 44, String(dropped));
      world.shard.resumeReading();
      await world.run(20_000);
      const answered = world.shard.session.all('bootstrapResponse').map((one) => one.requestId);
      assert.deepEqual(
        answered,
        Array.from({ length: 300 - dropped }, (_, n) => `r${n}`),
      );
    });
  });

  it('go before a waiting roll-up', async () => {
    await inWorld({ network: { windowBytes: 32 } }, async (world) => {
      await world.run(1_000);
      world.shard.behaviour.isReading = false;
      await world.run(35_000);
      for (let n = 0; n < 3; n++) bootstrap(world, `r${n}`);
      await world.run(100);
      const before = world.shard.session.kinds.length;
      world.shard.resumeReading();
      await world.run(100);
      const kinds = world.shard.session.kinds.slice(before);
      assert.ok(
        kinds.lastIndexOf('bootstrapResponse') < kinds.lastIndexOf('rollup'),
        kinds.join(' '),
      );
    });
  });
});

describe('node states', () => {
  it('of one machine in quick succession cost the first and the last write', async () => {
    await inWorld({}, async (world) => {
      world.cluster.writeMs = 500;
      await world.run(1_000);
      state(world, 'm1', MachineState.IDLE);
      await world.run(100);
      state(world, 'm1', MachineState.CONFIGURING);
      state(world, 'm1', MachineState.CONFIGURED);
      await world.run(2_000);
      const written = world.cluster.states.map((update) => update.state);
      assert.deepEqual(written, [MachineState.IDLE, MachineState.CONFIGURED]);
      const series = 'bigfleet_operator_node_state_update_duration_seconds_count{phase="Ready"}';
      assert.equal(await world.metric(series), 2);
    });
  });

  it('that arrive as the last write ends are not lost', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      for (let n = 0; n < 200; n++) {
        state(world, 'm1', n % 2 === 0 ? MachineState.CONFIGURING : MachineState.CONFIGURED);
        await world.run(n % 3);
      }
      await world.run(1_000);
      assert.equal(world.cluster.states.at(-1)?.state, MachineState.CONFIGURED);
    });
  });

  it('that cannot be written are logged, do not stop others and are written later', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      world.cluster.failingWrites = 1;
      state(world, 'm1');
      state(world, 'm2');
      await world.run(200);
      const written = (): string[] => world.cluster.states.map(({ machineId }) => machineId);
      assert.deepEqual(written(), ['m2']);
      assert.match(world.logged('dispatch failed')[0] ?? '', /frame=node_state .*said no/);
      await world.run(400);
      assert.deepEqual(written(), ['m2', 'm1']);
      assert.equal(world.shard.sessions.length, 1);
    });
  });

  it('wait for a cluster that is away for minutes, and the newest is written', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      world.cluster.failingWrites = 1_000;
      for (let n = 0; n < 40; n++) state(world, `m${n}`, MachineState.CONFIGURING);
      await world.run(120_000);
      state(world, 'm0', MachineState.IDLE);
      await world.run(120_000);
      const lines = world.logged('dispatch failed').length;
      assert.ok(lines >= 40 && lines < 1_000, String(lines));
      assert.equal(world.cluster.states.length, 0);
      world.cluster.failingWrites = 0;
      await world.run(31_000);
      assert.equal(world.cluster.states.length, 40);
      const newest = world.cluster.states.filter(({ machineId }) => machineId === 'm0');
      assert.deepEqual(
        newest.map((update) => update.state),
        [MachineState.IDLE],
      );
    });
  });

  it('that wait for another attempt do not hold up a stop', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      world.cluster.failingWrites = 1_000;
      state(world, 'm1');
      await world.run(20_000);
      world.stop();
      await world.run(100);
      assert.equal(world.time.pendingTimers, 0);
    });
  });

  it('that the cluster calls invalid are not tried again', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      const fields = { status: 422 };
      world.cluster.writeFailure = new BigFleetError('kube_refused', 'bad label', { fields });
      world.cluster.failingWrites = 1;
      state(world, 'm1');
      await world.run(100_000);
      assert.deepEqual(world.cluster.states, []);
      assert.equal(world.logged('dispatch failed').length, 1);
    });
  });

  it('are broken off at their deadline, and tried again', async () => {
    await inWorld({ settings: { handlerTimeoutMs: 5_000 } }, async (world) => {
      await world.run(1_000);
      world.cluster.writeMs = 100_000;
      state(world, 'm1');
      await world.run(5_100);
      assert.equal(world.cluster.runningWrites, 0);
      assert.equal(world.logged('dispatch failed').length, 1);
      world.cluster.writeMs = 0;
      await world.run(500);
      assert.equal(world.cluster.states.length, 1);
    });
  });

  it('of another cluster or of no machine are refused', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      const { session } = world.shard;
      session.send({ case: 'nodeStateUpdate', value: { machineId: 'm1', clusterId: 'us-9' } });
      session.send({ case: 'nodeStateUpdate', value: { machineId: '' } });
      await world.run(1_000);
      assert.deepEqual(world.cluster.states, []);
      assert.equal(world.logged('dispatch failed').length, 2);
    });
  });

  it('of more machines than can wait end the session, whose successor replays them', async () => {
    await inWorld({ settings: { maxWaitingKeys: 50 } }, async (world) => {
      world.cluster.writeMs = 60_000;
      await world.run(1_000);
      for (let n = 0; n < 51; n++) state(world, `m${n}`);
      await world.run(2_000);
      assert.equal(world.shard.sessions.length, 2);
      assert.match(
        world.logged('session ended, reconnecting')[0] ?? '',
        /too many distinct machines/,
      );
    });
  });
});

describe('other frames', () => {
  it('hints coalesce by key, and one without key is ignored', async () => {
    await inWorld({}, async (world) => {
      world.cluster.writeMs = 500;
      await world.run(1_000);
      for (const availableCount of [1, 2, 3]) {
        const value = { supersedesKey: 'available:any', availableCount };
        world.shard.session.send({ case: 'availableCapacity', value });
        world.shard.session.send({ case: 'availableCapacity', value: { availableCount } });
      }
      await world.run(5_000);
      assert.deepEqual(
        world.cluster.hints.map((hint) => hint.availableCount),
        [1, 3],
      );
    });
  });

  const garbage: [string, Uint8Array][] = [
    ['an unset payload', new Uint8Array()],
    ['a payload of a later version', Uint8Array.of(0xfa, 0x3e, 0x00)],
    ['bytes that are no message', Uint8Array.of(0xff, 0xff, 0xff)],
    ['a message that is cut off', Uint8Array.of(0x0a, 0x20, 0x0a)],
    ['a kilobyte of noise', new Uint8Array(1_024).map((_, at) => (at * 37 + 11) & 0xff)],
  ];
  for (const [name, bytes] of garbage) {
    it(`${name} is logged, and the stream goes on`, async () => {
      await inWorld({}, async (world) => {
        await world.run(1_000);
        world.shard.session.sendBytes(bytes);
        bootstrap(world, 'r1');
        await world.run(100);
        assert.equal(world.logged('dispatch failed').length, 1);
        assert.equal(world.shard.session.all('bootstrapResponse').length, 1);
        assert.equal(world.shard.sessions.length, 1);
      });
    });
  }

  it('a flood of garbage does not flood the log', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      for (let n = 0; n < 500; n++) world.shard.session.sendBytes(Uint8Array.of(0xff));
      await world.run(3_000);
      const lines = world.logged('dispatch failed');
      assert.ok(lines.length <= 25, String(lines.length));
      assert.match(lines.join('\n'), /suppressed=\d+/);
    });
  });

  it('acks with an unknown echo, a term or an epoch change nothing', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      const value = { echo: 'applause', coordinatorTerm: -1n, shardEpoch: -1n };
      world.shard.session.send({ case: 'ack', value });
      await world.run(30_000);
      assert.equal(world.shard.sessions.length, 1);
      assert.deepEqual(world.logged('dispatch failed'), []);
    });
  });
});
