// Proves how a torn tail is told from damage, byte by byte, including bytes that only look like a
// frame: old blocks of another generation, and payloads made to imitate one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeFileHeader, encodeFrameHeader, FILE_HEADER_BYTES } from './frame.ts';
import { scanJournal } from './scan-journal.ts';

const GENERATION = 7;

function frame(index: number, text: string, generation: number = GENERATION): Buffer {
  const payload = [Buffer.from(text)];
  return Buffer.concat([encodeFrameHeader({ generation, index, payload }), ...payload]);
}

function journal(...frames: readonly Buffer[]): Buffer {
  return Buffer.concat([encodeFileHeader(GENERATION), ...frames]);
}

function texts(bytes: Buffer): readonly string[] | string {
  const scan = scanJournal(bytes, GENERATION);
  if (scan.kind === 'damaged') return scan.problem;
  return scan.payloads.map((payload) => payload.toString('utf8'));
}

test('whole journals read back, every cut gives the whole frames before it', () => {
  const frames = [frame(0, 'first\n'), frame(1, ''), frame(2, 'third\n')];
  const whole = journal(...frames);
  assert.deepEqual(texts(whole), ['first\n', '', 'third\n']);
  for (let length = 0; length < whole.length; length++) {
    const scan = scanJournal(whole.subarray(0, length), GENERATION);
    assert.equal(scan.kind, 'readable', `cut at ${length}`);
    if (scan.kind !== 'readable') continue;
    let end = length < FILE_HEADER_BYTES ? 0 : FILE_HEADER_BYTES;
    let count = 0;
    for (const { length: bytes } of end === 0 ? [] : frames) {
      if (end + bytes > length) break;
      end += bytes;
      count += 1;
    }
    assert.deepEqual([scan.payloads.length, scan.goodBytes, scan.torn], [count, end, end < length]);
  }
});

test('a broken frame before the header of a later one is damage, at the end it is a cut', () => {
  const broken = frame(1, 'second\n');
  broken[25] = (broken[25] ?? 0) ^ 1;
  assert.deepEqual(texts(journal(frame(0, 'a'), broken)), ['a']);
  assert.match(String(texts(journal(frame(0, 'a'), broken, frame(2, 'c')))), /frame 1 at byte 41/);
  const onlyHeader = frame(2, 'a long third frame').subarray(0, 20);
  assert.match(String(texts(journal(frame(0, 'a'), broken, onlyHeader))), /is broken, but a later/);
});

test('a missing frame, a repeated one and another order are damage', () => {
  for (const frames of [
    [frame(0, 'a'), frame(2, 'c')],
    [frame(0, 'a'), frame(0, 'a'), frame(1, 'b')],
    [frame(1, 'b'), frame(0, 'a')],
  ]) {
    // The last one stands alone behind a gap, so only what precedes it proves the damage.
    assert.match(String(texts(journal(...frames, frame(3, 'd')))), /is broken, but a later/);
  }
});

test('old blocks of another generation behind a cut are no frames', () => {
  const cut = frame(1, 'second\n').subarray(0, 22);
  const stale = frame(2, 'of a deleted journal\n', GENERATION - 1);
  assert.deepEqual(texts(journal(frame(0, 'a'), cut, stale)), ['a']);
});

test('a payload can not look like a frame, whatever text a caller chose', () => {
  const imitation = frame(1, 'x').toString('latin1');
  const cut = frame(0, `${imitation}${imitation} and more`).subarray(0, -3);
  assert.deepEqual(texts(journal(cut)), []);
});

test('a file header of another generation or none is damage, unless it was just being written', () => {
  assert.match(String(texts(encodeFileHeader(GENERATION + 1))), /holds generation 8, not 7/);
  const noHeader = Buffer.alloc(FILE_HEADER_BYTES + 1);
  assert.match(String(texts(noHeader)), /file header is broken/);
  assert.deepEqual(texts(Buffer.alloc(FILE_HEADER_BYTES)), []);
  assert.deepEqual(texts(Buffer.alloc(0)), []);
});
