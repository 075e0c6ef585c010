// Proves the `node_identity` frames (wire-additions §2): complete after each hello ack, then changes,
// newest per machine, at most 2,000 per frame, outside the 256 responses. And that each carries the phantom
// machines of its moment, whole, and goes for them alone only when their set changed.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MachineState, RpcError } from '@bigfleet/wire';
import { inWorld, type World } from './testing/world.ts';

/** `+` for a complete report; then the entries, removed ones with a minus. */
function reports({ shard }: World): string[] {
  return shard.session.all('nodeIdentity').map(({ complete, nodes }) => {
    const entries = nodes.map((one) =>
      one.removed ? `-${one.machineId}` : `${one.machineId}=${one.nodeName}`,
    );
    return `${complete ? '+' : ''}${entries.join(' ')}`;
  });
}

describe('node identity', () => {
  it('is complete first, then what changed', async () => {
    await inWorld({}, async (world) => {
      world.cluster.link('m1');
      world.cluster.link('m2');
      await world.run(1_000);
      assert.deepEqual(reports(world), ['+m1=node-m1 m2=node-m2']);
      world.cluster.link('m3');
      await world.run(100);
      world.cluster.link('m1', 'renamed');
      world.cluster.unlink('m2');
      await world.run(100);
      assert.deepEqual(reports(world).slice(1).join(' '), 'm3=node-m3 m1=renamed -m2');
      const [first] = world.shard.session.all('nodeIdentity');
      assert.deepEqual([first?.nodes[0]?.providerId, first?.nodes[0]?.nodeUid], ['p-m1', 'u-m1']);
    });
  });

  it('is told again when the shard has no name or another one for a bound machine', async () => {
    await inWorld({}, async (world) => {
      for (const id of ['m1', 'm2', 'm3', 'm4']) world.cluster.link(id);
      await world.run(1_000);
      const state = (machineId: string, nodeName: string, of: MachineState): void =>
        world.shard.session.send({
          case: 'nodeStateUpdate',
          value: { machineId, nodeName, state: of },
        });
      state('m1', '', MachineState.CONFIGURED);
      state('m2', 'node-m2', MachineState.CONFIGURED);
      state('m3', 'm3', MachineState.DRAINING);
      // Given back: the shard would take no name for it.
      state('m4', '', MachineState.IDLE);
      state('unlinked', '', MachineState.CONFIGURING);
      await world.run(1_000);
      assert.deepEqual(reports(world).slice(1).join(' '), 'm1=node-m1 m3=node-m3');
    });
  });

  it('says so when it knows no node', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      assert.deepEqual(reports(world), ['+']);
    });
  });

  it('is complete again in the next session, with what changed in between', async () => {
    await inWorld({}, async (world) => {
      world.cluster.link('m1');
      await world.run(1_000);
      world.shard.session.end(new RpcError('UNAVAILABLE', 'blip'));
      await world.run(10);
      world.cluster.link('m2');
      world.cluster.unlink('m1');
      await world.run(2_000);
      assert.equal(world.shard.sessions.length, 2);
      assert.deepEqual(reports(world), ['+m2=node-m2']);
    });
  });

  it('is not sent to a shard that did not name it', async () => {
    await inWorld({}, async (world) => {
      world.shard.behaviour.extensions = ['reclaim-completion'];
      world.cluster.link('m1');
      await world.run(1_000);
      world.cluster.link('m2');
      await world.run(1_000);
      assert.deepEqual(reports(world), []);
    });
  });

  it('comes in frames of at most 2,000, of which the first replaces everything', async () => {
    await inWorld({}, async (world) => {
      for (let n = 0; n < 4_500; n++) world.cluster.link(`m${n}`);
      await world.run(1_000);
      const frames = world.shard.session.all('nodeIdentity');
      assert.deepEqual(
        frames.map(({ complete, nodes }) => [complete, nodes.length]),
        [
          [true, 2_000],
          [false, 2_000],
          [false, 500],
        ],
      );
      const names = new Set(frames.flatMap(({ nodes }) => nodes.map((one) => one.machineId)));
      assert.equal(names.size, 4_500);
    });
  });

  it('to a slow shard coalesces per machine and drops nothing', async () => {
    await inWorld({ network: { windowBytes: 32 } }, async (world) => {
      await world.run(1_000);
      world.shard.behaviour.isReading = false;
      for (let round = 0; round < 5; round++) {
        for (let n = 0; n < 400; n++) world.cluster.link(`m${n}`, `r${round}`);
        await world.run(100);
      }
      world.cluster.unlink('m7');
      assert.equal(await world.metric('bigfleet_operator_outbox_dropped_total'), 0);
      const before = world.shard.session.all('nodeIdentity').length;
      world.shard.resumeReading();
      await world.run(5_000);
      const late = world.shard.session.all('nodeIdentity').slice(before);
      const known = new Map<string, string>();
      for (const { nodes } of world.shard.session.all('nodeIdentity')) {
        for (const one of nodes) {
          if (one.removed) known.delete(one.machineId);
          else known.set(one.machineId, one.nodeName);
        }
      }
      assert.equal(known.size, 399);
      assert.deepEqual([...new Set(known.values())], ['r4']);
      const entries = late.reduce((sum, { nodes }) => sum + nodes.length, 0);
      assert.ok(entries <= 1_200, String(entries));
    });
  });
});

/** The phantoms of each report, with `+` before a complete one. */
function phantoms({ shard }: World): string[] {
  return shard.session
    .all('nodeIdentity')
    .map(({ complete, phantomMachineIds: ids }) => `${complete ? '+' : ''}${ids.join(' ')}`);
}

describe('phantom machines', () => {
  it('are in the complete report, in a report of their own when they change, and beside every link', async () => {
    await inWorld({}, async (world) => {
      world.cluster.phantom('m2', 'm1');
      await world.run(1_000);
      assert.deepEqual(phantoms(world), ['+m1 m2']);
      world.cluster.phantom('m1', 'm2', 'm3');
      await world.run(1_000);
      world.cluster.link('m9');
      await world.run(1_000);
      world.cluster.phantom();
      await world.run(1_000);
      assert.deepEqual(phantoms(world), ['+m1 m2', 'm1 m2 m3', 'm1 m2 m3', '']);
      assert.deepEqual(reports(world), ['+', '', 'm9=node-m9', '']);
    });
  });

  it('are told again in the next session and not while the set is the same', async () => {
    await inWorld({}, async (world) => {
      world.cluster.phantom('m1');
      await world.run(60_000);
      world.cluster.phantom('m1');
      await world.run(60_000);
      assert.deepEqual(phantoms(world), ['+m1']);
      world.shard.session.end(new RpcError('UNAVAILABLE', 'blip'));
      await world.run(10);
      world.cluster.phantom('m1', 'm2');
      await world.run(60_000);
      assert.equal(world.shard.sessions.length, 2);
      assert.deepEqual(phantoms(world), ['+m1 m2']);
    });
  });

  it('are the first 2,000', async () => {
    await inWorld({}, async (world) => {
      const ids = Array.from({ length: 2_500 }, (_, n) => `m${String(n).padStart(5, '0')}`);
      world.cluster.phantom(...ids);
      await world.run(1_000);
      // Beyond what is told, a change is none.
      world.cluster.phantom(...ids.slice(0, 2_400));
      await world.run(1_000);
      const told = world.shard.session.all('nodeIdentity').map((one) => one.phantomMachineIds);
      assert.deepEqual(told, [ids.slice(0, 2_000)]);
    });
  });

  it('are not told to a shard that did not name the extension', async () => {
    await inWorld({}, async (world) => {
      world.shard.behaviour.extensions = ['reclaim-completion'];
      world.cluster.phantom('m1');
      await world.run(1_000);
      world.cluster.phantom('m2');
      await world.run(60_000);
      assert.deepEqual(reports(world), []);
    });
  });

  it('to a slow shard become the newest set, and none that came and went', async () => {
    await inWorld({ network: { windowBytes: 32 } }, async (world) => {
      world.cluster.phantom('m0');
      await world.run(1_000);
      world.shard.behaviour.isReading = false;
      for (let round = 0; round < 50; round++) {
        world.cluster.phantom(`m${round}`);
        await world.run(100);
      }
      world.shard.resumeReading();
      await world.run(5_000);
      const told = phantoms(world);
      assert.equal(told.at(-1), 'm49');
      assert.ok(told.length < 10, told.join(', '));
    });
  });
});
