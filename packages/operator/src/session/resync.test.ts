// Proves mark and sweep after a reconnect (kubernetes §4.2, §4.4): what the replay did not name is
// swept after the marker, never before, and hints not before the catch-all can have come.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RpcError } from '@bigfleet/wire';
import { inWorld, type World } from './testing/world.ts';

function state({ shard }: World, machineId: string): void {
  shard.session.send({ case: 'nodeStateUpdate', value: { machineId } });
}

describe('the sweep', () => {
  it('of machines follows the marker with every machine that was named', async () => {
    await inWorld({}, async (world) => {
      world.shard.behaviour.resyncs = false;
      await world.run(1_000);
      for (const machineId of ['m2', 'm1', 'm2']) state(world, machineId);
      await world.run(100_000);
      assert.deepEqual(world.cluster.machineSweeps, []);
      world.shard.session.ack('resync');
      await world.run(100);
      assert.deepEqual(world.cluster.machineSweeps, [['m1', 'm2']]);
      world.shard.session.ack('resync');
      await world.run(100);
      assert.equal(world.cluster.machineSweeps.length, 1);
    });
  });

  it('starts with fresh marks in every session', async () => {
    await inWorld({}, async (world) => {
      world.shard.behaviour.resyncs = false;
      await world.run(1_000);
      state(world, 'm1');
      await world.run(100);
      world.shard.session.end(new RpcError('UNAVAILABLE', 'blip'));
      await world.run(2_000);
      state(world, 'm2');
      world.shard.session.ack('resync');
      await world.run(100);
      assert.deepEqual(world.cluster.machineSweeps, [['m2']]);
    });
  });

  it('stands in for the marker after three quiet intervals, for a classic shard only', async () => {
    await inWorld({}, async (world) => {
      world.shard.behaviour.resyncs = false;
      world.shard.behaviour.extensions = [];
      await world.run(1_000);
      state(world, 'm1');
      await world.run(25_000);
      state(world, 'm2');
      await world.run(29_000);
      assert.deepEqual(world.cluster.machineSweeps, []);
      await world.run(2_000);
      assert.deepEqual(world.cluster.machineSweeps, [['m1', 'm2']]);
    });
  });

  it('of hints waits for the marker and for 30 s after the first applied roll-up', async () => {
    await inWorld({}, async (world) => {
      world.shard.behaviour.echo = 'rollup-held';
      await world.run(1_000);
      await world.run(60_000);
      assert.deepEqual(world.cluster.hintSweeps, []);
      world.shard.behaviour.echo = 'rollup';
      await world.run(10_000);
      const value = { supersedesKey: 'available:any' };
      world.shard.session.send({ case: 'availableCapacity', value });
      await world.run(15_000);
      assert.deepEqual(world.cluster.hintSweeps, []);
      await world.run(20_000);
      assert.deepEqual(world.cluster.hintSweeps, [['available:any']]);
    });
  });

  it('of hints never happens without the marker', async () => {
    await inWorld({}, async (world) => {
      world.shard.behaviour.resyncs = false;
      await world.run(100_000);
      assert.deepEqual(world.cluster.hintSweeps, []);
      world.shard.session.ack('resync');
      await world.run(100);
      assert.deepEqual(world.cluster.hintSweeps, [[]]);
    });
  });

  it('comes after writes that the last session had begun, and drops those it had not', async () => {
    await inWorld({ settings: { dispatchConcurrency: 1 } }, async (world) => {
      world.cluster.writeMs = 10_000;
      await world.run(1_000);
      state(world, 'begun');
      state(world, 'waiting');
      await world.run(100);
      world.cluster.machineSweeps.length = 0;
      world.shard.session.end(new RpcError('UNAVAILABLE', 'blip'));
      await world.run(2_000);
      assert.equal(world.shard.sessions.length, 2);
      assert.deepEqual(world.cluster.machineSweeps, []);
      await world.run(20_000);
      assert.deepEqual(world.cluster.machineSweeps, [[]]);
      assert.deepEqual(
        world.cluster.states.map(({ machineId }) => machineId),
        ['begun'],
      );
    });
  });

  it('that failed is tried again, with the machines that came meanwhile', async () => {
    await inWorld({}, async (world) => {
      world.cluster.failingSweeps = 3;
      await world.run(1_000);
      assert.deepEqual(world.cluster.machineSweeps, []);
      state(world, 'late');
      const value = { requestId: 'r1', machineId: 'joining' };
      world.shard.session.send({ case: 'bootstrapRequest', value });
      await world.run(10_000);
      assert.deepEqual(world.cluster.machineSweeps, [['joining', 'late']]);
      const lines = world.logged('sweep failed').length;
      assert.equal(lines, 3);
      world.cluster.failingSweeps = 2;
      await world.run(60_000);
      assert.equal(world.cluster.hintSweeps.length, 1);
      await world.run(60_000);
      assert.deepEqual(
        [world.cluster.machineSweeps.length, world.cluster.hintSweeps.length],
        [1, 1],
      );
    });
  });

  it('that failed ends with its session', async () => {
    await inWorld({}, async (world) => {
      world.cluster.failingSweeps = 1_000;
      world.shard.behaviour.resyncs = false;
      await world.run(1_000);
      world.shard.session.ack('resync');
      await world.run(30_000);
      assert.ok(world.logged('sweep failed').length > 3);
      world.shard.session.end(new RpcError('UNAVAILABLE', 'blip'));
      await world.run(2_000);
      const lines = world.logged('sweep failed').length;
      await world.run(60_000);
      assert.equal(world.logged('sweep failed').length, lines);
    });
  });

  it('comes after the frame that failed in the last session was dropped', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      world.cluster.failingWrites = 1_000;
      state(world, 'gone');
      await world.run(20_000);
      world.shard.session.end(new RpcError('UNAVAILABLE', 'blip'));
      await world.run(2_000);
      world.cluster.failingWrites = 0;
      await world.run(60_000);
      assert.deepEqual(world.cluster.states, []);
      assert.deepEqual(world.cluster.machineSweeps.at(-1), []);
    });
  });

  it('leaves waiting writes alone while the shard is away', async () => {
    await inWorld({ settings: { dispatchConcurrency: 1 } }, async (world) => {
      world.cluster.writeMs = 10_000;
      await world.run(1_000);
      state(world, 'begun');
      state(world, 'waiting');
      await world.run(100);
      world.network.apply({ kind: 'refuse', address: 'shard:7780' });
      world.shard.session.end(new RpcError('UNAVAILABLE', 'down'));
      await world.run(30_000);
      assert.deepEqual(
        world.cluster.states.map(({ machineId }) => machineId),
        ['begun', 'waiting'],
      );
    });
  });
});
