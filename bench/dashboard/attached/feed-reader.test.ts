// Proves that the reader of the bench tells the frames of the feed apart without decoding them, with and without
// the cursor in front: a frame that it took for another would let a phase pass that read nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeInit, WatchFrameSchema } from '@bigfleet/wire';
import { FRAME_KINDS, kindOf } from './feed-reader.ts';

const CURSOR = new Uint8Array(17).fill(7);

test('every kind of frame is told by its first bytes', () => {
  for (const kind of FRAME_KINDS) {
    for (const cursor of [new Uint8Array(), CURSOR]) {
      const bytes = encodeInit(WatchFrameSchema, { cursor, frame: { case: kind, value: {} } });
      assert.equal(kindOf(bytes), kind);
    }
  }
});

test('what is no frame of the feed is refused', () => {
  assert.throws(() => kindOf(Uint8Array.of(0x7a, 0)), /no frame/);
  assert.throws(() => kindOf(new Uint8Array()), /no frame/);
});
