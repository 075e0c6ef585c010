// Proves when roll-ups are sent and what their answers acknowledge (kubernetes §2.3, §3.1, §3.2, §3.4,
// §3.6), against a scripted shard under virtual time.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RpcError } from '@bigfleet/wire';
import { DemandIndex } from '../rollup/demand-index.ts';
import { request } from '../rollup/testing/requests.ts';
import { inWorld, type World } from './testing/world.ts';

/** Priorities in the roll-ups of the newest session: a short name for their content. */
function sent({ shard }: World): number[][] {
  return shard.session.all('rollup').map(({ needs }) => needs.map(({ priority }) => priority));
}

function demand(world: World, priority: number, uid = `uid-p${priority}`): void {
  world.cluster.request(request({ uid, spec: { priority } }));
}

describe('roll-ups', () => {
  it('go out at once and then every interval, each the whole truth', async () => {
    await inWorld({}, async (world) => {
      demand(world, 1);
      await world.run(1_000);
      assert.deepEqual(sent(world), [[1]]);
      demand(world, 2);
      await world.run(8_000);
      assert.deepEqual(sent(world), [[1]]);
      await world.run(2_000);
      assert.deepEqual(sent(world), [[1], [1, 2]]);
      world.cluster.index?.delete('uid-p1');
      await world.run(30_000);
      assert.deepEqual(sent(world).slice(2), [[2], [2], [2]]);
      const [first] = world.shard.session.all('rollup');
      assert.equal(first?.clusterId, 'eu-1');
      const lateNanos = world.time.runtime.clock.unixNanos() - (first?.timestampUnixNanos ?? 0n);
      assert.ok(lateNanos > 40_000_000_000n && lateNanos < 41_000_000_000n, String(lateNanos));
    });
  });

  it('send nothing before the first full list, and then at once', async () => {
    await inWorld({}, async (world) => {
      world.cluster.index = undefined;
      await world.run(25_000);
      assert.deepEqual(sent(world), []);
      assert.equal(world.operator.isConnected, true);
      assert.match(world.logged('initial rollup failed')[0] ?? '', /demand_not_synced/);
      world.cluster.synced(new DemandIndex());
      await world.run(100);
      assert.deepEqual(sent(world), [[]]);
    });
  });

  it('take a new index whole', async () => {
    await inWorld({}, async (world) => {
      demand(world, 1);
      await world.run(1_000);
      const relisted = new DemandIndex();
      relisted.set(request({ spec: { priority: 7 } }));
      world.cluster.synced(relisted);
      await world.run(10_000);
      assert.deepEqual(sent(world), [[1], [7]]);
    });
  });

  it('follow changes early where that is switched on, with their least spacing', async () => {
    await inWorld({ settings: { onChangeSpacingMs: 1_000 } }, async (world) => {
      demand(world, 1);
      await world.run(500);
      demand(world, 2);
      await world.run(400);
      demand(world, 3);
      assert.deepEqual(sent(world), [[1]]);
      await world.run(200);
      assert.deepEqual(sent(world), [[1], [1, 2, 3]]);
      await world.run(7_000);
      assert.equal(sent(world).length, 2);
      await world.run(2_500);
      assert.equal(sent(world).length, 3);
    });
  });

  it('sent early wait for the answer to the last one, so that answers stay paired', async () => {
    await inWorld({ settings: { onChangeSpacingMs: 100 } }, async (world) => {
      world.shard.behaviour.echo = undefined;
      demand(world, 1);
      await world.run(1_000);
      demand(world, 2);
      await world.run(1_000);
      assert.deepEqual(sent(world), [[1]]);
      world.shard.session.ack('rollup');
      await world.run(100);
      assert.deepEqual(sent(world), [[1], [1, 2]]);
    });
  });

  it('to a shard that does not read replace each other', async () => {
    await inWorld({ network: { windowBytes: 64 } }, async (world) => {
      await world.run(1_000);
      world.shard.behaviour.isReading = false;
      await world.run(10_000);
      const before = sent(world).length;
      for (const priority of [1, 2, 3]) {
        demand(world, priority);
        await world.run(9_000);
      }
      world.shard.resumeReading();
      await world.run(500);
      const after = sent(world).slice(before);
      assert.deepEqual(after.at(-1), [1, 2, 3]);
      assert.ok(after.length <= 2, JSON.stringify(after));
    });
  });

  it('over the message limit are not sent, and the session lives', async () => {
    await inWorld({ settings: { maxRollupBytes: 400 } }, async (world) => {
      demand(world, 1);
      await world.run(1_000);
      for (let priority = 2; priority < 20; priority++) demand(world, priority);
      await world.run(30_000);
      assert.deepEqual(sent(world), [[1]]);
      assert.match(world.logged('rollup failed')[0] ?? '', /message_too_large/);
      assert.equal(world.shard.sessions.length, 1);
      for (let priority = 2; priority < 20; priority++)
        world.cluster.index?.delete(`uid-p${priority}`);
      await world.run(10_000);
      assert.deepEqual(sent(world), [[1], [1]]);
    });
  });

  it('report a bad request once per version, count it each time, and go out without it', async () => {
    await inWorld({}, async (world) => {
      demand(world, 1);
      const bad = { uid: 'bad', name: 'broken', spec: { resources: { cpu: 'x' } } };
      world.cluster.request(request({ ...bad, resourceVersion: '1' }));
      world.cluster.request(request({ uid: 'far', isForeign: true }));
      await world.run(25_000);
      assert.deepEqual(sent(world), [[1], [1], [1]]);
      assert.deepEqual(
        world.cluster.refused.map((one) => one.request.name),
        ['broken'],
      );
      world.cluster.request(request({ ...bad, resourceVersion: '2' }));
      await world.run(10_000);
      assert.equal(world.cluster.refused.length, 2);
      const [line = ''] = world.logged('skipping CR with bad profile');
      assert.match(line, /cr=broken ns=default err="resources/);
      const skipped = 'bigfleet_operator_rollup_skipped_total';
      assert.equal(await world.metric(`${skipped}{reason="bad_quantity"}`), 4);
      assert.equal(await world.metric(`${skipped}{reason="foreign_node"}`), 4);
      assert.equal(await world.metric('bigfleet_operator_capacity_requests'), 3);
      assert.equal(await world.metric('bigfleet_operator_rollup_bytes_count'), 4);
      assert.equal(await world.metric('bigfleet_operator_rollup_duration_seconds_count'), 4);
      assert.deepEqual(world.cluster.acknowledged.sort(), ['far', 'uid-p1']);
    });
  });
});

describe('acknowledgement', () => {
  it('follows the answer of the shard, once', async () => {
    await inWorld({}, async (world) => {
      world.shard.behaviour.echo = undefined;
      demand(world, 1);
      await world.run(1_000);
      assert.deepEqual(world.cluster.acknowledged, []);
      world.shard.session.ack('rollup');
      world.shard.behaviour.echo = 'rollup';
      await world.run(35_000);
      assert.deepEqual(world.cluster.acknowledged, ['uid-p1']);
      assert.equal(await world.metric('bigfleet_operator_acknowledged_total'), 1);
      const stamp = await world.metric('bigfleet_operator_rollup_last_acked_timestamp_seconds');
      const nowSeconds = Number(world.time.runtime.clock.unixNanos() / 1_000_000_000n);
      assert.ok(stamp !== undefined && nowSeconds - stamp < 10, `${nowSeconds - (stamp ?? 0)}`);
    });
  });

  it('does not follow a held roll-up, but a later applied one', async () => {
    await inWorld({}, async (world) => {
      world.shard.behaviour.echo = 'rollup-held';
      demand(world, 1);
      await world.run(65_000);
      assert.deepEqual(world.cluster.acknowledged, []);
      assert.equal(world.shard.sessions.length, 1);
      world.shard.behaviour.echo = 'rollup';
      await world.run(10_000);
      assert.deepEqual(world.cluster.acknowledged, ['uid-p1']);
    });
  });

  it('does not follow a rejected roll-up: the session is given up instead', async () => {
    await inWorld({}, async (world) => {
      world.shard.behaviour.echo = undefined;
      demand(world, 1);
      await world.run(29_000);
      assert.equal(world.shard.sessions.length, 1);
      await world.run(4_000);
      assert.equal(world.shard.sessions.length, 2);
      assert.match(world.logged('session ended, reconnecting')[0] ?? '', /no roll-up was answered/);
      await world.run(100_000);
      assert.deepEqual(world.cluster.acknowledged, []);
    });
  });

  it('forgets what a dead session sent', async () => {
    await inWorld({}, async (world) => {
      world.shard.behaviour.echo = undefined;
      demand(world, 1);
      await world.run(1_000);
      world.cluster.index?.delete('uid-p1');
      world.shard.session.end(new RpcError('UNAVAILABLE', 'blip'));
      await world.run(1_000);
      world.shard.session.ack('rollup');
      await world.run(1_000);
      assert.deepEqual(world.cluster.acknowledged, []);
    });
  });

  it('falls back to "written" for a classic shard that never answers, with one warning', async () => {
    await inWorld({}, async (world) => {
      world.shard.behaviour.extensions = [];
      world.shard.behaviour.echo = undefined;
      demand(world, 1);
      await world.run(19_000);
      assert.deepEqual(world.cluster.acknowledged, []);
      await world.run(2_000);
      assert.deepEqual(world.cluster.acknowledged, ['uid-p1']);
      demand(world, 2);
      await world.run(100_000);
      assert.deepEqual(world.cluster.acknowledged, ['uid-p1', 'uid-p2']);
      assert.equal(world.shard.sessions.length, 1);
      assert.equal(world.log.lines.filter((line) => line.includes('never acknowledges')).length, 1);
    });
  });

  it('does not fall back for a classic shard that holds', async () => {
    await inWorld({}, async (world) => {
      world.shard.behaviour.extensions = [];
      world.shard.behaviour.echo = 'rollup-held';
      demand(world, 1);
      await world.run(100_000);
      assert.deepEqual(world.cluster.acknowledged, []);
      assert.equal(world.shard.sessions.length, 1);
    });
  });

  it('never blocks the roll-ups, runs 16 wide, and writes each request once', async () => {
    await inWorld({}, async (world) => {
      world.cluster.writeMs = 1_000;
      for (let n = 0; n < 400; n++) world.cluster.request(request({ uid: `r${n}` }));
      await world.run(21_000);
      assert.equal(world.cluster.peakWrites, 16);
      assert.equal(sent(world).length, 3);
      await world.run(20_000);
      assert.equal(world.cluster.acknowledged.length, 400);
      assert.equal(new Set(world.cluster.acknowledged).size, 400);
      const batches = 'bigfleet_operator_acknowledge_duration_seconds';
      assert.equal(await world.metric(`${batches}_count`), 1);
      assert.equal(await world.metric(`${batches}_sum`), 25);
    });
  });

  it('is tried again by the next roll-up after a failed write', async () => {
    await inWorld({}, async (world) => {
      world.cluster.failingWrites = 1;
      demand(world, 1);
      await world.run(1_000);
      assert.deepEqual(world.cluster.acknowledged, []);
      assert.equal(world.logged('Acknowledge status update').length, 1);
      await world.run(10_000);
      assert.deepEqual(world.cluster.acknowledged, ['uid-p1']);
    });
  });

  it('counts no object that is gone', async () => {
    await inWorld({}, async (world) => {
      world.cluster.request(request({ uid: 'g', name: 'gone-1' }));
      await world.run(1_000);
      assert.deepEqual(world.cluster.acknowledged, ['g']);
      assert.equal(await world.metric('bigfleet_operator_acknowledged_total'), 0);
    });
  });

  it('is repeated for a request whose phase somebody reset', async () => {
    await inWorld({}, async (world) => {
      for (const isAcknowledged of [false, true, false]) {
        world.cluster.request(request({ uid: 'r', isAcknowledged }));
        await world.run(15_000);
      }
      assert.deepEqual(world.cluster.acknowledged, ['r', 'r']);
    });
  });

  it('skips requests that the cluster already shows as acknowledged', async () => {
    await inWorld({}, async (world) => {
      world.cluster.request(request({ isAcknowledged: true }));
      await world.run(15_000);
      assert.deepEqual(world.cluster.acknowledged, []);
      assert.deepEqual(sent(world), [[0], [0]]);
    });
  });
});
