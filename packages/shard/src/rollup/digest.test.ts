// Proves that the digest of a roll-up ignores its timestamp and nothing else, that the cluster id is
// read as the decoder reads it, and that no bytes break the walk.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { ClusterCapacityNeedsSchema, decode, encodeInit } from '@bigfleet/wire';
import fc from 'fast-check';
import { rollupBytes } from '../operators/testing/stage.ts';
import { readEnvelope, type RollupEnvelope } from './digest.ts';

const { timers } = realRuntime();

async function envelope(bytes: Uint8Array): Promise<RollupEnvelope> {
  const read = await readEnvelope(timers, bytes);
  assert.ok(read.ok);
  return read.value;
}

test('the timestamp does not count, everything else does', async () => {
  const base = { clusterId: 'blue', timestamp: 1n, needCount: 3, cpu: '1' };
  const { clusterId, digest } = await envelope(rollupBytes(base));
  assert.equal(clusterId, 'blue');
  const same = [
    { ...base, timestamp: 2n },
    { ...base, timestamp: 1_800_000_000_000_000_000n },
    // Left out on the wire.
    { ...base, timestamp: 0n },
  ];
  for (const shape of same) assert.equal((await envelope(rollupBytes(shape))).digest, digest);
  const different = [
    { ...base, clusterId: '' },
    { ...base, needCount: 2 },
    { ...base, needCount: 0 },
    { ...base, cpu: '2' },
  ];
  for (const shape of different) {
    assert.notEqual((await envelope(rollupBytes(shape))).digest, digest, JSON.stringify(shape.cpu));
  }
});

test('bytes that are no roll-up are refused', async () => {
  const cases: readonly [string, number[]][] = [
    ['a tag without a value', [0x0a]],
    ['a length past the end', [0x0a, 0x05, 0x61]],
    ['a varint without end', [0x10, 0xff, 0xff]],
    ['a timestamp of another wire type', [0x12, 0x01, 0x00]],
    ['two timestamps', [0x10, 0x01, 0x10, 0x02]],
    ['a need of another wire type', [0x18, 0x01]],
    ['a cluster id that is no text', [0x0a, 0x01, 0xff]],
    ['field number 0', [0x00, 0x01]],
    ['a group', [0x1b, 0x1c]],
  ];
  for (const [name, bytes] of cases) {
    const read = await readEnvelope(timers, Uint8Array.from(bytes));
    assert.deepEqual(read, { ok: false, error: 'malformed' }, name);
  }
});

test('a frame of countless empty fields is too large, not slow', async () => {
  const bytes = new Uint8Array(2 * 400_000);
  for (let at = 0; at < bytes.length; at += 2) bytes[at] = 0x1a;
  assert.deepEqual(await readEnvelope(timers, bytes), { ok: false, error: 'too_large' });
});

test('a roll-up larger than one slice has the digest of its bytes, in several turns', async () => {
  const big = rollupBytes({ needCount: 2, cpu: '1'.repeat(5_000_000), timestamp: 1n });
  const again = rollupBytes({ needCount: 2, cpu: '1'.repeat(5_000_000), timestamp: 9n });
  assert.equal((await envelope(big)).digest, (await envelope(again)).digest);
});

test('law: where the decoder and the walk both read a roll-up, they read the same cluster', async () => {
  const good = encodeInit(ClusterCapacityNeedsSchema, {
    clusterId: 'cluster-1',
    timestampUnixNanos: 77n,
    needs: [{ priority: 3, group: 'g', minUnit: { cpu: '1' } }, { priority: 4 }],
  });
  const edit = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(edit, async (edits) => {
      const bytes = good.slice();
      for (const [at, byte] of edits) bytes[at] = byte;
      const read = await readEnvelope(timers, bytes);
      const decoded = decodedClusterId(bytes);
      if (decoded === undefined || !read.ok) return;
      assert.equal(read.value.clusterId, decoded);
    }),
    { numRuns: 2_000 },
  );
});

function decodedClusterId(bytes: Uint8Array): string | undefined {
  try {
    return decode(ClusterCapacityNeedsSchema, bytes, 'INVALID_ARGUMENT').clusterId;
  } catch {
    return undefined;
  }
}
