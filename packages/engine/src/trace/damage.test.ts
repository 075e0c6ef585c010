// Proves that damage is never replayed silently: a trace cut at any byte replays its intact
// prefix and says that it is torn, a trace with any bit flipped says so or replays the same, and
// garbage with valid checksums ends in a report without an exception or a large allocation.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { ByteWriter } from '../bytes/byte-writer.ts';
import type { TraceEnd } from './entry.ts';
import { EndCode, HEADER_BYTES, Op, TRACE_VERSION } from './format.ts';
import { FrontEncoder } from './front-coding.ts';
import { MAX_FRAME_BYTES, MAX_TEXT_BYTES } from './limits.ts';
import { concat, frameOffsets, payloads, sealed } from './testing/frames.ts';
import { randomRun, type RandomRun } from './testing/random-run.ts';
import { replay } from './replay.ts';
import { TraceReader } from './trace-reader.ts';

const small: RandomRun = randomRun('damage-134', {
  cycleCount: 4,
  maxMachines: 8,
  maxNeeds: 5,
  dictionaryEntries: 60,
});

test('the small trace is worth damaging', () => {
  assert.ok(small.trace.length > 500 && small.trace.length < 4000, `${small.trace.length} bytes`);
  assert.equal(new Set(small.hashes).size, 4);
  assert.ok(small.actionCount >= 10, `${small.actionCount} actions`);
  assert.equal(replay(small.trace).outcome, 'identical');
  assert.ok(frameOffsets(small.trace).length >= 6);
});

test('cut at every byte: the intact prefix replays and the end is known', () => {
  const boundaries = new Set(frameOffsets(small.trace));
  for (let length = 0; length < small.trace.length; length++) {
    const report = replay(small.trace.subarray(0, length));
    const where = `cut to ${length} bytes`;
    assert.equal(report.outcome, 'identical', where);
    assert.deepEqual(report.hashes, small.hashes.slice(0, report.cycleCount), where);
    const offset = Math.max(0, ...[...boundaries].filter((at) => at <= length));
    assert.deepEqual(
      report.end,
      boundaries.has(length) ? { kind: 'open' } : { kind: 'torn', offset },
      where,
    );
  }
});

test('every bit flipped: an error at or before the place, and never another decision', () => {
  const offsets = frameOffsets(small.trace);
  for (let at = 0; at < small.trace.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const damaged = small.trace.slice();
      damaged[at] = damaged[at]! ^ (1 << bit);
      const report = replay(damaged);
      const where = `byte ${at}, bit ${bit}: ${JSON.stringify(report.end)}`;
      assert.equal(report.outcome, 'identical', where);
      assert.deepEqual(report.hashes, small.hashes.slice(0, report.cycleCount), where);
      assert.deepEqual(placeOf(report.end), expectedPlace(at, offsets), where);
    }
  }
});

/** The kind of the end and the frame that it names. */
function placeOf(end: TraceEnd | undefined): string {
  if (end === undefined) return 'none';
  return 'offset' in end ? `${end.kind} ${end.offset}` : end.kind;
}

function expectedPlace(at: number, offsets: readonly number[]): string {
  if (at < 8) return 'not_a_trace';
  if (at < 10) return 'unsupported_version';
  if (at < HEADER_BYTES) return 'corrupt 0';
  return `corrupt ${offsets.findLast((offset) => offset <= at) ?? -1}`;
}

test('frames that are dropped, doubled, swapped or taken from another trace are corrupt', () => {
  const offsets = frameOffsets(small.trace);
  const frames = offsets.slice(0, -1).map((start, at) => small.trace.slice(start, offsets[at + 1]));
  const header = small.trace.slice(0, HEADER_BYTES);
  const [first, second, third, ...rest] = frames as [Uint8Array, Uint8Array, Uint8Array];
  const other = randomRun('another', { cycleCount: 4, maxMachines: 6, maxNeeds: 4 }).trace;
  const foreign = other.slice(HEADER_BYTES, frameOffsets(other)[1]);
  const cases: readonly [string, readonly Uint8Array[]][] = [
    ['dropped', [first, third, ...rest]],
    ['doubled', [first, second, second, third, ...rest]],
    ['swapped', [first, third, second, ...rest]],
    ['foreign', [first, foreign, second, third, ...rest]],
  ];
  for (const [name, parts] of cases) {
    const report = replay(concat([header, ...parts]));
    assert.equal(report.end?.kind, 'corrupt', name);
    assert.equal(report.outcome, 'identical', name);
    assert.deepEqual(report.hashes, small.hashes.slice(0, report.cycleCount), name);
  }
});

test('a newer version and a foreign file are told apart, and nothing of them is read', () => {
  const newer = small.trace.slice();
  new DataView(newer.buffer).setUint16(8, TRACE_VERSION + 1, true);
  const cases: readonly [Uint8Array, TraceEnd][] = [
    [newer, { kind: 'unsupported_version', version: TRACE_VERSION + 1 }],
    [
      Uint8Array.from('PNG, perhaps, or a log file', (c) => c.charCodeAt(0)),
      { kind: 'not_a_trace' },
    ],
    [new Uint8Array(1000), { kind: 'not_a_trace' }],
    [new Uint8Array(0), { kind: 'torn', offset: 0 }],
  ];
  for (const [bytes, end] of cases) {
    const reader = new TraceReader(bytes);
    assert.deepEqual([...reader], []);
    assert.deepEqual(reader.end, end);
  }
});

test('anything behind the end is corrupt', () => {
  const frames = payloads(small.trace);
  const end = Uint8Array.of(Op.end, EndCode.closed);
  assert.equal(replay(sealed(frames)).end?.kind, 'closed', 'sealing works');
  assert.equal(replay(sealed([...frames, end])).end?.kind, 'corrupt');
  assert.equal(replay(concat([small.trace, Uint8Array.of(0)])).end?.kind, 'corrupt');
});

test('every byte of every payload changed, with valid checksums: a report, never an exception', () => {
  const frames = payloads(small.trace);
  const random = createRandom('garbage');
  let read = 0;
  let refused = 0;
  frames.forEach((payload, index) => {
    for (let at = 0; at < payload.length; at++) {
      for (const value of [0, 0xff, payload[at]! ^ (1 << random.below(8)), random.below(256)]) {
        const damaged = payload.slice();
        damaged[at] = value;
        const report = replay(sealed(frames.toSpliced(index, 1, damaged)));
        read += 1;
        if (report.end?.kind === 'corrupt' || report.failure !== undefined) refused += 1;
      }
    }
  });
  assert.ok(refused > read / 4, `${refused} of ${read} refused`);
});

test('random payloads with valid checksums end in a report', () => {
  const random = createRandom('noise');
  for (let run = 0; run < 3000; run++) {
    const payload = Uint8Array.from({ length: 1 + random.below(200) }, () =>
      random.below(3) === 0 ? random.below(52) : random.below(256),
    );
    const report = replay(sealed([payload]));
    assert.notEqual(report.end?.kind, 'closed');
  }
});

test('a frame that is empty or larger than allowed is corrupt', () => {
  for (const size of [0, MAX_FRAME_BYTES + 1]) {
    const end = replay(sealed([new Uint8Array(size)])).end;
    assert.deepEqual(end, { kind: 'corrupt', offset: HEADER_BYTES, problem: 'size of the frame' });
  }
});

test('texts that blow up a small trace are refused at a stated size', () => {
  const bomb = new ByteWriter();
  const front = new FrontEncoder();
  const long = 'x'.repeat(MAX_TEXT_BYTES - 4);
  for (let at = 0; at < 100; at++) {
    bomb.byte(Op.defineText);
    assert.ok(front.write(long + String(at), bomb));
  }
  const trace = sealed([bomb.written.slice()]);
  assert.ok(trace.length < MAX_TEXT_BYTES + 8000);
  assert.match(JSON.stringify(replay(trace).end), /too large/);
});

test('a roll-up of more rows than allowed is refused before it is built', () => {
  const body = new ByteWriter();
  body.byte(Op.snapshotEnd);
  body.varint(0);
  body.varint(0);
  body.byte(Op.rollup);
  body.varint(0);
  body.varint(2 ** 40);
  assert.match(JSON.stringify(replay(sealed([body.written.slice()])).end), /too many rows/);
});

test('a profile that names more text than allowed is refused before it is built', () => {
  const body = new ByteWriter();
  body.byte(Op.defineText);
  assert.ok(new FrontEncoder().write('x'.repeat(MAX_TEXT_BYTES - 1), body));
  body.byte(Op.defineProfile);
  for (const field of [0, 1, 1, 1, 1, 1, 3, 1, 1, 1, 0]) body.byte(field);
  assert.match(JSON.stringify(replay(sealed([body.written.slice()])).end), /too much text/);
});
