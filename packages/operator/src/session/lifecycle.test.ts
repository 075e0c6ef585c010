// Proves the life of sessions (kubernetes §2.1): handshake, what ends one, how the next is dialled,
// and that a stop dials no more.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RpcError } from '@bigfleet/wire';
import { request } from '../rollup/testing/requests.ts';
import { inWorld, type World } from './testing/world.ts';

const RECONNECTS = 'bigfleet_operator_session_reconnects_total';
const CONNECTED = 'bigfleet_operator_session_connected';

/** The backoffs that were logged, in ms. */
function backoffs(world: World): number[] {
  return world
    .logged('session ended, reconnecting')
    .map((line) => Number(/backoff=(\d+)ms/.exec(line)?.[1]));
}

describe('the handshake', () => {
  it('sends Hello first, and the roll-up after the hello ack', async () => {
    await inWorld({}, async (world) => {
      world.cluster.request(request());
      await world.run(1_000);
      const { session } = world.shard;
      const [hello] = session.all('hello');
      assert.equal(hello?.clusterId, 'eu-1');
      assert.equal(hello.protocolVersion, 'v1alpha1');
      assert.deepEqual(hello.extensions, ['reclaim-completion', 'node-identity']);
      assert.deepEqual(session.kinds, ['hello', 'nodeIdentity', 'rollup']);
      assert.equal(world.operator.isConnected, true);
      assert.equal(await world.metric(CONNECTED), 1);
    });
  });

  it('gives up on a shard that does not answer Hello, and sends it nothing else', async () => {
    await inWorld({}, async (world) => {
      world.shard.behaviour.extensions = undefined;
      await world.run(29_000);
      assert.deepEqual(world.shard.session.kinds, ['hello']);
      assert.equal(world.operator.isConnected, false);
      await world.run(2_500);
      assert.equal(world.shard.sessions.length, 2);
      assert.match(
        world.logged('session ended, reconnecting')[0] ?? '',
        /no hello ack within 30 s/,
      );
    });
  });

  it('ignores a second hello ack', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      world.shard.session.ack('hello', []);
      await world.run(1_000);
      assert.deepEqual(world.shard.session.kinds, ['hello', 'nodeIdentity', 'rollup']);
    });
  });

  it('uses only extensions that it offered itself', async () => {
    await inWorld({}, async (world) => {
      world.shard.behaviour.extensions = ['telepathy'];
      await world.run(1_000);
      assert.deepEqual(world.shard.session.kinds, ['hello', 'rollup']);
    });
  });
});

describe('reconnecting', () => {
  it('backs off from 500 ms to 30 s with full jitter while nobody answers', async () => {
    await inWorld({}, async (world) => {
      world.network.apply({ kind: 'refuse', address: 'shard:7780' });
      await world.run(600_000);
      const waits = backoffs(world);
      for (const [attempt, wait] of waits.entries()) {
        const ceiling = Math.min(500 * 2 ** attempt, 30_000);
        assert.ok(wait > 0 && wait <= ceiling, `attempt ${attempt}: ${wait} of ${ceiling}`);
      }
      const late = waits.slice(6);
      assert.ok(late.length > 20 && late.length < 100, `${late.length} attempts in ten minutes`);
      assert.ok(Math.min(...late) < 10_000 && Math.max(...late) > 20_000, 'not full jitter');
      assert.equal(await world.metric(RECONNECTS), waits.length);
      assert.equal(world.shard.sessions.length, 0);
    });
  });

  it('starts over after a session that proved itself, and not after a mere hello', async () => {
    await inWorld({}, async (world) => {
      world.shard.behaviour.echo = undefined;
      for (let blip = 0; blip < 8; blip++) {
        await world.run(31_000);
        world.shard.session.end(new RpcError('UNAVAILABLE', 'blip'));
        await world.run(500);
      }
      const before = backoffs(world);
      assert.ok(Math.max(...before.slice(5)) > 1_000, `${before.join(' ')}`);
      world.shard.behaviour.echo = 'rollup';
      await world.run(60_000);
      world.shard.session.end(new RpcError('UNAVAILABLE', 'blip'));
      await world.run(2_000);
      const after = backoffs(world).at(-1) ?? Number.NaN;
      assert.ok(after <= 500, `${after} ms after a proven session`);
    });
  });

  it('dials again when the shard closes the stream without an error', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      world.shard.session.end();
      await world.run(10);
      assert.equal(world.operator.isConnected, false);
      assert.equal(await world.metric(CONNECTED), 0);
      await world.run(2_000);
      assert.equal(world.shard.sessions.length, 2);
      assert.equal(world.operator.isConnected, true);
      assert.equal(await world.metric(RECONNECTS), 1);
    });
  });

  it('logs a refused identity as an error, with the reason, and keeps trying', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      world.shard.session.end(new RpcError('PERMISSION_DENIED', 'presented bigfleet://cluster/x'));
      await world.run(5_000);
      const [line = ''] = world.logged('session ended, reconnecting');
      assert.match(line, /level=ERROR .*PERMISSION_DENIED: presented bigfleet:\/\/cluster\/x/);
      assert.equal(world.shard.sessions.length, 2);
    });
  });

  it('waits near the longest backoff after being replaced', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      world.shard.session.end(new RpcError('ABORTED', 'session replaced'));
      await world.run(14_500);
      assert.equal(world.shard.sessions.length, 1);
      assert.match(world.logged('session ended, reconnecting')[0] ?? '', /level=ERROR .*replaced/);
      await world.run(16_000);
      assert.equal(world.shard.sessions.length, 2);
    });
  });

  it('survives a dial that throws', async () => {
    let dials = 0;
    const dial = (usual: () => ReturnType<World['network']['connect']>) => {
      dials++;
      if (dials === 1) throw new Error('tls.crt is gone');
      return usual();
    };
    await inWorld({ dial }, async (world) => {
      await world.run(2_000);
      assert.equal(world.operator.isConnected, true);
      assert.match(world.logged('session ended, reconnecting')[0] ?? '', /tls\.crt is gone/);
    });
  });

  it('notices a half-open connection by keepalive', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      world.network.apply({ kind: 'partition', a: 'operator', b: 'shard' });
      await world.run(45_000);
      assert.equal(world.operator.isConnected, false);
      world.network.apply({ kind: 'heal', a: 'operator', b: 'shard' });
      await world.run(60_000);
      assert.equal(world.operator.isConnected, true);
    });
  });
});

describe('a stop', () => {
  it('closes the stream, counts no reconnect and dials no more', async () => {
    await inWorld({}, async (world) => {
      await world.run(1_000);
      world.stop();
      await world.run(1_000);
      assert.equal(world.shard.session.isOver, true);
      assert.equal(await world.metric(RECONNECTS), 0);
      assert.deepEqual(world.logged('session ended, reconnecting'), []);
      await world.run(100_000);
      assert.equal(world.shard.sessions.length, 1);
    });
  });

  it('ends a backoff at once', async () => {
    await inWorld({}, async (world) => {
      world.network.apply({ kind: 'refuse', address: 'shard:7780' });
      await world.run(100_000);
      world.stop();
      world.network.apply({ kind: 'admit', address: 'shard:7780' });
      await world.run(100_000);
      assert.equal(world.shard.sessions.length, 0);
    });
  });

  it('lets writes finish within their grace and abandons the rest', async () => {
    await inWorld({ settings: { dispatchConcurrency: 1 } }, async (world) => {
      world.cluster.writeMs = 1_500;
      await world.run(1_000);
      for (const machineId of ['m1', 'm2']) {
        world.shard.session.send({ case: 'nodeStateUpdate', value: { machineId } });
      }
      await world.run(1_000);
      world.stop();
      await world.run(4_000);
      assert.deepEqual(
        world.cluster.states.map(({ machineId }) => machineId),
        ['m1'],
      );
    });
  });

  it('does not wait for a write that hangs', async () => {
    await inWorld({}, async (world) => {
      world.cluster.writeMs = 1_000_000;
      await world.run(1_000);
      world.shard.session.send({ case: 'nodeStateUpdate', value: { machineId: 'm1' } });
      await world.run(1_000);
      assert.equal(world.cluster.runningWrites, 1);
      world.stop();
      await world.run(5_100);
      assert.equal(world.cluster.runningWrites, 0);
    });
  });
});
