// Proves that the digest of a roll-up ignores its timestamp and nothing else, and that no bytes have the
// digest of an accepted roll-up unless they mean the same.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { ClusterCapacityNeedsSchema, decode, encodeInit } from '@bigfleet/wire';
import fc from 'fast-check';
import { rollupBytes } from '../operators/testing/stage.ts';
import { rollupDigest } from './digest.ts';
import { RollupRows } from './rows.ts';

const { timers } = realRuntime();

test('the timestamp does not count, everything else does', async () => {
  const base = { clusterId: 'blue', timestamp: 1n, needCount: 3, cpu: '1' };
  const digest = await rollupDigest(timers, rollupBytes(base));
  const same = [
    { ...base, timestamp: 2n },
    { ...base, timestamp: 1_800_000_000_000_000_000n },
    // Left out on the wire.
    { ...base, timestamp: 0n },
  ];
  for (const shape of same) assert.equal(await rollupDigest(timers, rollupBytes(shape)), digest);
  const different = [
    { ...base, clusterId: '' },
    { ...base, needCount: 2 },
    { ...base, needCount: 0 },
    { ...base, cpu: '2' },
  ];
  for (const shape of different) {
    assert.notEqual(
      await rollupDigest(timers, rollupBytes(shape)),
      digest,
      JSON.stringify(shape.cpu),
    );
  }
});

test('a timestamp that an encoder writes last does not count either', async () => {
  const needs = rollupBytes({ timestamp: 0n, needCount: 3 });
  const at = (nanos: number): Uint8Array => Uint8Array.from([...needs, 0x10, nanos]);
  assert.equal(await rollupDigest(timers, at(1)), await rollupDigest(timers, at(2)));
});

test('a roll-up larger than one slice has the digest of its bytes, in several turns', async () => {
  const big = rollupBytes({ needCount: 2, cpu: '1'.repeat(5_000_000), timestamp: 1n });
  const again = rollupBytes({ needCount: 2, cpu: '1'.repeat(5_000_000), timestamp: 9n });
  assert.equal(await rollupDigest(timers, big), await rollupDigest(timers, again));
});

test('law: bytes with the digest of an accepted roll-up are a roll-up with the same needs', async () => {
  const good = encodeInit(ClusterCapacityNeedsSchema, {
    clusterId: 'cluster-1',
    timestampUnixNanos: 77n,
    needs: [{ priority: 3, group: 'g', minUnit: { cpu: '1' } }, { priority: 4 }],
  });
  const accepted = await rollupDigest(timers, good);
  const { clusterId, needs } = decode(ClusterCapacityNeedsSchema, good, 'INVALID_ARGUMENT');
  const timestamp = [0x10, 0x4d];
  const start = good.indexOf(0x10);
  assert.deepEqual([...good.subarray(start, start + 2)], timestamp);
  const without = [...good.subarray(0, start), ...good.subarray(start + 2)];
  let equalCount = 0;
  const draw = fc.record({
    // Bytes that look like a timestamp, put anywhere, also into the middle of a need.
    place: fc.nat(without.length),
    put: fc.constantFrom([], timestamp, [0x10, 0x01], [0x10, 0xff, 0x01], [0x12, 0x00]),
    edits: fc.array(fc.tuple(fc.nat(without.length - 1), fc.nat(255)), { maxLength: 1 }),
  });
  await fc.assert(
    fc.asyncProperty(draw, async ({ place, put, edits }) => {
      const bytes = Uint8Array.from([...without.slice(0, place), ...put, ...without.slice(place)]);
      for (const [at, byte] of edits) bytes[at] = byte;
      if ((await rollupDigest(timers, bytes)) !== accepted) return;
      equalCount += 1;
      assert.ok(new RollupRows().read('cluster-1', bytes).ok, Buffer.from(bytes).toString('hex'));
      const same = decode(ClusterCapacityNeedsSchema, bytes, 'INVALID_ARGUMENT');
      assert.deepEqual([same.clusterId, same.needs], [clusterId, needs]);
    }),
    { numRuns: 3_000 },
  );
  assert.ok(equalCount > 20, `only ${equalCount} had the digest`);
});
