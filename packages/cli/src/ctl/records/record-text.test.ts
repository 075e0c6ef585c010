// Proves that a record gets the dispositions that came before it, of its own cycle and epoch only,
// and that what cannot be read is said and hides nothing else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeDispositions } from '@bigfleet/engine';
import { decode, encodeInit, type RecordFrame, RecordFrameSchema } from '@bigfleet/wire';
import { recordDocument, recordFrames, recordLines } from './record-text.ts';

const HELD = encodeDispositions({
  cycle: 1,
  reclaimCapFraction: 0,
  maxActionsPerCycle: 0,
  actionCount: 0,
  counts: new Map(),
  runs: [],
  rollups: [{ cluster: 'blue', code: 'malformed', count: 2, detail: 'no\u001b[2Jsense' }],
  unnamedRollupCount: 7,
});
const RECORD = Uint8Array.of(1, 2, 3);

function frameOf(cycle: bigint, payload: Uint8Array, shardEpoch = 4n): RecordFrame {
  const bytes = encodeInit(RecordFrameSchema, { cycle, shardEpoch, payload });
  return decode(RecordFrameSchema, bytes, 'INTERNAL');
}

/** `1+` for a record with dispositions, `1` for one without. */
function told(frames: readonly RecordFrame[]): string[] {
  const seen: string[] = [];
  const pairs = recordFrames(({ cycle }, dispositions) =>
    seen.push(`${cycle}${dispositions.length > 0 ? '+' : ''}`),
  );
  for (const frame of frames) pairs(frame);
  return seen;
}

const cases: readonly (readonly [string, readonly RecordFrame[], readonly string[]])[] = [
  ['its own', [frameOf(1n, HELD), frameOf(1n, RECORD), frameOf(2n, RECORD)], ['1+', '2']],
  ['of another cycle', [frameOf(1n, HELD), frameOf(2n, RECORD)], ['2']],
  ['of another life of the shard', [frameOf(1n, HELD, 3n), frameOf(1n, RECORD)], ['1']],
  ['the last of two', [frameOf(1n, HELD), frameOf(2n, HELD), frameOf(2n, RECORD)], ['2+']],
  ['alone', [frameOf(1n, HELD)], []],
];
for (const [what, frames, expected] of cases) {
  test(`dispositions: ${what}`, () => assert.deepEqual(told(frames), expected));
}

test('what cannot be read is a line', () => {
  const frame = frameOf(1n, RECORD);
  const lines = recordLines(recordDocument('shard-0', frame, HELD.subarray(0, HELD.length - 1)));
  assert.match(lines.join('\n'), /unreadable: the record ends too early/);
  const document = recordDocument('shard-0', frame, HELD.subarray(0, HELD.length - 1));
  assert.deepEqual(document.heldBack, { problem: 'the checksum does not fit' });
});

test('refused roll-ups are lines of their own, without control characters', () => {
  const document = recordDocument('shard-0', frameOf(1n, RECORD), HELD);
  const empty = { cycle: 1, nowMs: 0, inputDigest: '', actionChecksum: 0, needs: [], actions: [] };
  const { problem: _, ...readable } = document;
  const lines = recordLines({ ...readable, at: 'now', record: empty });
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? '', /^now shard-0 1 Rollup cluster=blue malformed count=2: no/);
  assert.ok(!lines.join('').includes('\u001b'));
  assert.equal(lines[1], 'now shard-0 1 Rollup 7 more, not named');
});
