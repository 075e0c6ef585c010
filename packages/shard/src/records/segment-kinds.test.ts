// Proves that a record and its dispositions are read together or the record alone, that segments of
// version 2 read as they always did, that a kind of a later build is passed over and told, and that
// no damage makes one cycle's dispositions another's.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createRandom, createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { describeExplanation, explainRecords } from '../offline/explain-records.ts';
import { describeRecordLine, recordLines } from '../offline/record-lines.ts';
import type { SegmentFiles } from './segment-files.ts';
import { MemorySegments } from './testing/memory-segments.ts';
import { oldestCycle, readNewestFirst, readRecords } from './read-records.ts';
import { RecordWriter } from './record-writer.ts';
import {
  decodeSegment,
  encodeFrame,
  encodeFrames,
  HEADER_BYTES,
  segmentHeader,
  type StoredRecord,
} from './segment-format.ts';

const NOTHING = new Uint8Array(0);
const HASH = Buffer.from('00112233445566778899aabbccddeeff', 'hex');

/** Odd cycles have something to say beside their record. */
function recordOf(cycle: number): Omit<StoredRecord, 'epoch'> {
  const payload = new Uint8Array(20).fill(cycle);
  const dispositions = cycle % 2 === 1 ? new Uint8Array(9).fill(100 + cycle) : NOTHING;
  return { cycle: BigInt(cycle), atUnixNanos: 5n, actionHash: HASH, payload, dispositions };
}

const CYCLES = [1, 2, 3, 4];
const frames = CYCLES.map((cycle) => encodeFrames(recordOf(cycle)));
const whole = Buffer.concat([segmentHeader(7n), ...frames]);

/** `3:103` for cycle 3 with its dispositions, `2:` for cycle 2 without. */
function told(bytes: Uint8Array): string[] {
  return decodeSegment(bytes).records.map(({ cycle, payload, dispositions }) => {
    assert.ok(payload.every((byte) => byte === Number(cycle)));
    return `${cycle}:${dispositions[0] ?? ''}`;
  });
}

test('a record comes with its dispositions, and only with its own', () => {
  assert.deepEqual(told(whole), ['1:101', '2:', '3:103', '4:']);
  const { unreadBytes, unknownFrameCount } = decodeSegment(whole);
  assert.deepEqual([unreadBytes, unknownFrameCount], [0, 0]);
});

test('cut at any byte, what is whole is read and the rest is counted', () => {
  for (let cut = HEADER_BYTES; cut < whole.length; cut++) {
    let end = HEADER_BYTES;
    const kept = frames.filter(({ length }) => (end += length) <= cut);
    const { records, unreadBytes } = decodeSegment(whole.subarray(0, cut));
    assert.equal(records.length, kept.length, `cut at ${cut}`);
    const readTo = kept.reduce((sum, { length }) => sum + length, HEADER_BYTES);
    // Dispositions whose record is torn off are whole, and belong to nobody.
    assert.ok(unreadBytes <= cut - readTo, `cut at ${cut}`);
  }
});

test('a flipped bit never gives a record what is not its own', () => {
  const all = told(whole);
  for (let bit = HEADER_BYTES * 8; bit < whole.length * 8; bit++) {
    const damaged = Buffer.from(whole);
    damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    const read = told(damaged);
    assert.ok(read.length < all.length, `bit ${bit}`);
    assert.deepEqual(read, all.slice(0, read.length), `bit ${bit}`);
  }
});

test('dispositions of another cycle are dropped', () => {
  const stray = encodeFrame(recordOf(9), 2, new Uint8Array(9).fill(1));
  const strayed = Buffer.concat([segmentHeader(7n), stray, encodeRecordOnly(2)]);
  assert.deepEqual(told(strayed), ['2:']);
  const twice = Buffer.concat([segmentHeader(7n), frames[0] as Uint8Array, encodeRecordOnly(1)]);
  assert.deepEqual(told(twice), ['1:101', '1:']);
});

function encodeRecordOnly(cycle: number): Uint8Array {
  return encodeFrames({ ...recordOf(cycle), dispositions: NOTHING });
}

test('a kind that this build does not know is passed over and told', async () => {
  const later = encodeFrame(recordOf(2), 77, new Uint8Array(5));
  const [first, ...others] = frames as [Uint8Array, ...Uint8Array[]];
  const segment = Buffer.concat([segmentHeader(7n), first, later, later, ...others]);
  assert.deepEqual(told(segment), told(whole));
  const files = await directoryOf('000000000007-00000000.records', segment);
  const heard: string[] = [];
  const options = {
    onDamage: () => assert.fail('nothing is damaged'),
    onUnknown: (name: string, count: number) => heard.push(`${name} ${count}`),
  };
  let count = 0;
  for await (const _ of readRecords(files, options)) count += 1;
  for await (const _ of readNewestFirst(files, options)) count += 1;
  assert.equal(count, 2 * CYCLES.length);
  assert.deepEqual(heard, Array(2).fill('000000000007-00000000.records 2'));
});

test('random frames with valid checksums never throw', () => {
  const random = createRandom('frames');
  for (let run = 0; run < 500; run++) {
    const parts = Array.from({ length: random.below(6) }, () => {
      const payload = new Uint8Array(random.below(40));
      return encodeFrame(recordOf(random.below(3)), random.below(4), payload);
    });
    const segment = Buffer.concat([segmentHeader(7n), ...parts]);
    const { unreadBytes } = decodeSegment(segment);
    assert.equal(unreadBytes, 0);
    decodeSegment(segment.subarray(0, random.below(segment.length + 1)));
  }
});

interface Golden {
  readonly name: string;
  readonly bytes: string;
  readonly lines: readonly string[];
  readonly explained: string;
}

/** Written by the last build of version 2, with what that build read from it. */
test('a segment of version 2 reads as it always did', async () => {
  const file = new URL('./testdata/version-2.json', import.meta.url);
  const golden = JSON.parse(readFileSync(file, 'utf8')) as Golden;
  const bytes = Buffer.from(golden.bytes, 'base64');
  assert.equal(bytes.readUInt16LE(8), 2);
  const files = await directoryOf(golden.name, bytes);
  const lines: string[] = [];
  for await (const line of recordLines(files)) lines.push(describeRecordLine(line));
  assert.deepEqual(lines, golden.lines);
  const explained = await explainRecords(files, { subject: { machineId: 'host-0' } });
  assert.equal(describeExplanation(explained), golden.explained);
  assert.equal(await oldestCycle(files), 1n);
  for (let cut = 0; cut < bytes.length; cut++) {
    const { records, unreadBytes } = decodeSegment(bytes.subarray(0, cut));
    assert.ok(records.length < golden.lines.length);
    assert.ok(cut < HEADER_BYTES ? unreadBytes === cut : unreadBytes <= cut - HEADER_BYTES);
  }
});

test('what is written comes back, at every end of a segment within a small bound', async () => {
  const { clock } = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks }).runtime;
  const files = new MemorySegments();
  const maxBytes = 4_000;
  const writer = new RecordWriter({
    files,
    clock,
    epoch: 7n,
    maxBytes,
    onError: (error) => assert.fail(String(error)),
  });
  for (let cycle = 1; cycle <= 101; cycle++) {
    const { payload, dispositions } = recordOf(cycle);
    const actionHash = HASH.toString('hex');
    writer.append({ cycle, record: payload, dispositions, actionHash, trace: [] });
    await writer.flush();
    assert.ok(writer.storedBytes <= maxBytes);
  }
  await writer.close();
  let expected = 101;
  for await (const { cycle, dispositions } of readNewestFirst(files)) {
    assert.equal(cycle, BigInt(expected));
    assert.deepEqual([...dispositions], [...recordOf(expected).dispositions]);
    expected -= 1;
  }
  assert.ok(expected < 80 && expected > 0, 'some are kept, the oldest are gone');
});

async function directoryOf(name: string, bytes: Uint8Array): Promise<SegmentFiles> {
  const files = new MemorySegments();
  const file = await files.create(name);
  await file.append(bytes);
  return files;
}
