// Proves that an acknowledgement is encoded once per echo and stamp, and carries the stamp of now.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode, ShardMessageSchema } from '@bigfleet/wire';
import { AckFrames, type AckStamp, type ShardFrame, encodeFrame } from './frame.ts';

function read(frame: ShardFrame): unknown {
  const { payload } = decode(ShardMessageSchema, encodeFrame(frame), 'INTERNAL');
  assert.ok(payload.case === 'ack');
  const { echo, coordinatorTerm, shardEpoch, extensions } = payload.value;
  return [echo, coordinatorTerm, shardEpoch, extensions];
}

test('one frame per echo until the stamp changes', () => {
  let stamp: AckStamp = { coordinatorTerm: 1n, shardEpoch: 7n };
  const acks = new AckFrames(() => stamp);
  const first = acks.of('rollup');
  assert.deepEqual(read(first), ['rollup', 1n, 7n, []]);
  assert.equal(encodeFrame(acks.of('rollup')), encodeFrame(first), 'the same bytes');
  assert.deepEqual(read(acks.of('rollup-held')), ['rollup-held', 1n, 7n, []]);
  for (const next of [
    { coordinatorTerm: 2n, shardEpoch: 7n },
    { coordinatorTerm: 2n, shardEpoch: 8n },
  ]) {
    stamp = next;
    assert.deepEqual(read(acks.of('rollup')), [
      'rollup',
      next.coordinatorTerm,
      next.shardEpoch,
      [],
    ]);
  }
});
