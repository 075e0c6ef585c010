// Proves that records come back as they were written, within their bound of bytes, oldest dropped
// first; that damage and a failing disk cost records and nothing else.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { BigFleetError, createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { type DecidedCycle, RecordWriter } from './record-writer.ts';
import { readRecords } from './read-records.ts';
import { directorySegments, type SegmentFiles } from './segment-files.ts';
import {
  decodeSegment,
  encodeFrames,
  HEADER_BYTES,
  segmentHeader,
  type StoredRecord,
} from './segment-format.ts';

const { clock } = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks }).runtime;

function payloadOf(cycle: number, bytes = 1_000): Uint8Array {
  return new Uint8Array(bytes).fill(cycle % 251);
}

const NOTHING = new Uint8Array(0);
const ACTION_HASH = '00112233445566778899aabbccddeeff';
const HASH_BYTES = Buffer.from(ACTION_HASH, 'hex');

function decided(cycle: number, record: Uint8Array): DecidedCycle {
  return { cycle, record, dispositions: NOTHING, actionHash: ACTION_HASH, trace: [] };
}

function temporary(context: TestContext): SegmentFiles {
  const directory = mkdtempSync(path.join(tmpdir(), 'bigfleet-records-'));
  context.after(() => rmSync(directory, { recursive: true }));
  return directorySegments(directory);
}

function writerOf(files: SegmentFiles, maxBytes: number, errors: unknown[] = []): RecordWriter {
  return new RecordWriter({
    files,
    clock,
    epoch: 7n,
    maxBytes,
    onError: (error) => errors.push(error),
  });
}

async function all(files: SegmentFiles, options = {}): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  for await (const record of readRecords(files, options)) records.push(record);
  return records;
}

test('what was written is read, in order', async (context) => {
  const files = temporary(context);
  const writer = writerOf(files, 1 << 20);
  for (let cycle = 1; cycle <= 50; cycle++) writer.append(decided(cycle, payloadOf(cycle)));
  await writer.close();
  const records = await all(files);
  assert.deepEqual(
    records.map(({ cycle }) => Number(cycle)),
    Array.from({ length: 50 }, (_, at) => at + 1),
  );
  assert.ok(records.every(({ epoch }) => epoch === 7n));
  assert.deepEqual([...(records[9]?.payload ?? [])], [...payloadOf(10)]);
  assert.deepEqual([...(records[9]?.actionHash ?? [])], [...HASH_BYTES]);
  const some = await all(files, { fromCycle: 10n, toCycle: 12n });
  assert.deepEqual(
    some.map(({ cycle }) => cycle),
    [10n, 11n, 12n],
  );
});

test('the bound of bytes holds at every moment, and the newest stay', async (context) => {
  const files = temporary(context);
  const maxBytes = 40_000;
  const writer = writerOf(files, maxBytes);
  for (let cycle = 1; cycle <= 400; cycle++) {
    writer.append(decided(cycle, payloadOf(cycle)));
    await writer.flush();
    const total = (await files.list()).reduce((sum, { bytes }) => sum + bytes, 0);
    assert.ok(total <= maxBytes, `${total} bytes after cycle ${cycle}`);
  }
  await writer.close();
  const cycles = (await all(files)).map(({ cycle }) => Number(cycle));
  assert.equal(cycles.at(-1), 400);
  assert.ok(cycles.length > 25, `only ${cycles.length} left`);
  assert.deepEqual(
    cycles,
    cycles.toSorted((a, b) => a - b),
  );
});

test('a new process adds to what an old one left', async (context) => {
  const files = temporary(context);
  const first = writerOf(files, 1 << 20);
  first.append(decided(1, payloadOf(1)));
  await first.close();
  const second = new RecordWriter({
    files,
    clock,
    epoch: 8n,
    maxBytes: 1 << 20,
    onError: (error) => assert.fail(String(error)),
  });
  second.append(decided(1, payloadOf(2)));
  await second.close();
  assert.deepEqual(
    (await all(files)).map(({ epoch }) => epoch),
    [7n, 8n],
  );
});

test('cut at any byte, a segment gives its whole frames and counts the rest', () => {
  const frames = [1, 2, 3].map((cycle) =>
    encodeFrames({
      cycle: BigInt(cycle),
      atUnixNanos: 5n,
      actionHash: HASH_BYTES,
      payload: payloadOf(cycle, 10),
      dispositions: NOTHING,
    }),
  );
  const whole = Buffer.concat([segmentHeader(7n), ...frames]);
  const ends = frames.map((_, at) =>
    frames.slice(0, at + 1).reduce((sum, { length }) => sum + length, HEADER_BYTES),
  );
  for (let cut = 0; cut <= whole.length; cut++) {
    const { records, unreadBytes } = decodeSegment(whole.subarray(0, cut));
    const expected = ends.filter((end) => end <= cut).length;
    assert.equal(records.length, expected, `cut at ${cut}`);
    const readTo = cut < HEADER_BYTES ? 0 : (ends[expected - 1] ?? HEADER_BYTES);
    assert.equal(unreadBytes, cut - readTo, `cut at ${cut}`);
  }
});

test('a flipped bit ends its segment before the damage', () => {
  const frames = [1, 2].map((cycle) =>
    encodeFrames({
      cycle: BigInt(cycle),
      atUnixNanos: 5n,
      actionHash: HASH_BYTES,
      payload: payloadOf(cycle, 10),
      dispositions: NOTHING,
    }),
  );
  const whole = Buffer.concat([segmentHeader(7n), ...frames]);
  const firstEnd = HEADER_BYTES + (frames[0]?.length ?? 0);
  for (let bit = 0; bit < whole.length * 8; bit++) {
    const damaged = Buffer.from(whole);
    damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    const isInFirst = bit >> 3 < firstEnd;
    const { records } = decodeSegment(damaged);
    // The header's spare bytes and epoch carry no checksum; frames are all checked.
    if (bit >> 3 >= HEADER_BYTES) assert.equal(records.length, isInFirst ? 0 : 1, `bit ${bit}`);
  }
});

test('a disk that refuses costs records, is told, and is tried again', async (context) => {
  const inner = temporary(context);
  let isFull = false;
  const files: SegmentFiles = {
    ...inner,
    create: async (name) => {
      const file = await inner.create(name);
      return {
        append: async (bytes) => {
          if (isFull) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
          await file.append(bytes);
        },
        close: () => file.close(),
      };
    },
  };
  const errors: unknown[] = [];
  const writer = writerOf(files, 1 << 20, errors);
  writer.append(decided(1, payloadOf(1)));
  await writer.flush();
  isFull = true;
  for (let cycle = 2; cycle <= 5; cycle++) writer.append(decided(cycle, payloadOf(cycle)));
  await writer.flush();
  assert.equal(writer.droppedCount, 4);
  assert.equal(errors.length, 4);
  isFull = false;
  writer.append(decided(6, payloadOf(6)));
  await writer.close();
  assert.deepEqual(
    (await all(files)).map(({ cycle }) => Number(cycle)),
    [1, 6],
  );
});

test('deleted at any time: one record is lost, told and counted, and the next begins anew', async (context) => {
  const directory = path.join(mkdtempSync(path.join(tmpdir(), 'bigfleet-records-')), 'records');
  context.after(() => rmSync(path.dirname(directory), { recursive: true }));
  const files = directorySegments(directory);
  const errors: unknown[] = [];
  const writer = writerOf(files, 1 << 20, errors);
  for (let cycle = 1; cycle <= 5; cycle++) {
    if (cycle === 4) rmSync(directory, { recursive: true });
    writer.append(decided(cycle, payloadOf(cycle)));
    await writer.flush();
  }
  const kept = await all(files);
  assert.deepEqual(
    kept.map(({ cycle }) => cycle),
    [5n],
  );
  assert.equal(writer.droppedCount, 1);
  assert.ok(errors.length === 1 && errors[0] instanceof BigFleetError);
  assert.equal(errors[0].code, 'records_removed');
  const [segment] = await files.list();
  assert.equal(writer.storedBytes, segment?.bytes, 'what is gone takes no room');
  await writer.close();
});

test('a cycle never waits: what the disk cannot take is refused and counted', async (context) => {
  const writer = writerOf(temporary(context), 1 << 24);
  for (let cycle = 0; cycle < 200; cycle++) writer.append(decided(cycle, payloadOf(cycle)));
  assert.ok(writer.droppedCount > 0);
  await writer.close();
});
