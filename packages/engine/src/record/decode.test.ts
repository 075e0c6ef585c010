// Proves that damaged records are refused, whole and with the tagged error: flipped bits, lost
// ends, and garbage that carries a valid checksum.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createRandom, type Random } from '@bigfleet/base';
import { decide } from '../explain/testing/decide.ts';
import { randomFleet } from '../testing/generate.ts';

import { checksum, RecordError, recordReader } from './sealed-bytes.ts';
import { decodeRecord } from './decode.ts';
import type { DecisionRecord } from './format.ts';

const CHECKSUM_BYTES = 4;

/** Of a busy cycle: every section filled. */
function busyRecord(): Uint8Array {
  for (let seed = 1; seed < 1000; seed++) {
    const { bytes, record } = decide(randomFleet(createRandom(`busy-${seed}`)));
    const hasShort = record.needs.some(({ isSatisfied }) => !isSatisfied);
    const hasVictims = record.needs.some(({ victims }) => victims.length > 1);
    if (hasShort && hasVictims && record.actions.length > 3 && record.needs.length > 3)
      return bytes;
  }
  throw new Error('no busy fleet among the seeds');
}

const bytes = busyRecord();

test('one flipped bit anywhere is found', () => {
  for (let at = 0; at < bytes.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const damaged = bytes.slice();
      damaged[at] = damaged[at]! ^ (1 << bit);
      assertRefused(damaged, `bit ${bit} of byte ${at}`);
    }
  }
});

test('a lost end and a longer end are found', () => {
  for (let length = 0; length < bytes.length; length++) {
    assertRefused(bytes.subarray(0, length), `${length} bytes`);
  }
  const longer = new Uint8Array(bytes.length + 1);
  longer.set(bytes);
  assertRefused(longer, 'one byte more');
});

test('swapped words are found', () => {
  for (let at = 0; at + 8 <= bytes.length - CHECKSUM_BYTES; at += 4) {
    const damaged = bytes.slice();
    damaged.set(bytes.subarray(at, at + 4), at + 4);
    damaged.set(bytes.subarray(at + 4, at + 8), at);
    if (isEqual(damaged, bytes)) continue;
    assertRefused(damaged, `words at ${at}`);
  }
});

test('garbage with a valid checksum is read whole or refused, and never throws', () => {
  let readable = 0;
  for (let at = 5; at < bytes.length - CHECKSUM_BYTES; at++) {
    for (const value of [0, 1, 0x7f, 0x80, 0xff, bytes[at]! ^ 0x10]) {
      const forged = bytes.slice();
      forged[at] = value;
      if (isWhole(sealed(forged), `${value} at byte ${at}`)) readable += 1;
    }
  }
  // Numbers may change into other numbers: not everything can be noticed without the checksum.
  assert.ok(readable > 0);
});

test('random bytes behind a valid header never throw', () => {
  const random = createRandom('garbage');
  for (let run = 0; run < 2000; run++) {
    const forged = new Uint8Array(5 + random.below(200) + CHECKSUM_BYTES);
    for (let at = 0; at < forged.length; at++) forged[at] = garbageByte(random);
    forged.set(bytes.subarray(0, 5));
    isWhole(sealed(forged), `run ${run}`);
  }
});

/** Written by the last build of format 1, with what that build read from it. */
test('a record of format 1 reads as it always did, without victims', () => {
  const path = new URL('./testdata/format-1.json', import.meta.url);
  const { bytes: base64, record } = JSON.parse(readFileSync(path, 'utf8')) as Golden;
  const old = Uint8Array.from(Buffer.from(base64, 'base64'));
  assert.equal(old[4], 1);
  const decoded = decodeRecord(old);
  assert.ok(decoded.ok);
  const needs = record.needs.map((need) => ({ ...need, victims: [], isVictimsTruncated: false }));
  assert.deepEqual(plain(decoded.value), { ...record, needs });
  assert.ok(decoded.value.needs.some(({ preemptionCode }) => preemptionCode === 'chosen'));
  for (let length = 0; length < old.length; length++) {
    assertRefused(old.subarray(0, length), `${length} bytes of format 1`);
  }
});

interface Golden {
  readonly bytes: string;
  readonly record: { readonly needs: readonly object[] };
}

/** As JSON has it, maps as entries; what is undefined is absent. */
function plain(record: DecisionRecord): unknown {
  const asEntries = (_: string, value: unknown): unknown =>
    value instanceof Map ? [...value] : value;
  return JSON.parse(JSON.stringify(record, asEntries));
}

test('another magic and another format say so', () => {
  const foreign = bytes.slice();
  foreign[0] = foreign[0]! ^ 1;
  assert.match(refusal(sealed(foreign)), /not a decision record/);
  const later = bytes.slice();
  later[4] = 99;
  assert.match(refusal(sealed(later)), /unknown record format 99/);
  later[4] = 0;
  assert.match(refusal(sealed(later)), /unknown record format 0/);
  assert.match(refusal(new Uint8Array(0)), /too early/);
});

test('a count cannot exceed the bytes that are left', () => {
  assert.equal(recordReader(Uint8Array.of(2, 0, 0)).count(), 2);
  assert.throws(() => recordReader(Uint8Array.of(3, 0, 0)).count(), RecordError);
  assert.throws(() => recordReader(new Uint8Array(9).fill(0xff)).count(), RecordError);
});

test('a record inside a larger buffer reads the same', () => {
  const larger = new Uint8Array(bytes.length + 7);
  larger.set(bytes, 3);
  assert.deepEqual(decodeRecord(larger.subarray(3, 3 + bytes.length)), decodeRecord(bytes));
});

function assertRefused(damaged: Uint8Array, where: string): void {
  const decoded = decodeRecord(damaged);
  assert.ok(!decoded.ok, where);
  assert.ok(decoded.error instanceof RecordError, where);
}

function refusal(damaged: Uint8Array): string {
  const decoded = decodeRecord(damaged);
  assert.ok(!decoded.ok);
  return decoded.error.message;
}

/** With the checksum that fits. */
function sealed(content: Uint8Array): Uint8Array {
  const end = content.length - CHECKSUM_BYTES;
  new DataView(content.buffer).setUint32(end, checksum(content.subarray(0, end)), true);
  return content;
}

function isWhole(forged: Uint8Array, where: string): boolean {
  const decoded = decodeRecord(forged);
  if (decoded.ok) assertConsistent(decoded.value, where);
  else assert.ok(decoded.error instanceof RecordError, where);
  return decoded.ok;
}

/** References lead somewhere and counts are counts. */
function assertConsistent({ needs, actions }: DecisionRecord, where: string): void {
  for (const { need, shape } of actions) {
    assert.ok(need >= -1 && need < needs.length, where);
    assert.ok(shape !== undefined, where);
  }
  for (const need of needs) {
    assert.ok(need.creditedCount >= 0 && need.reasonCode !== undefined, where);
    for (const { code, shape } of need.candidates) {
      assert.ok(code !== undefined && shape !== undefined, where);
    }
  }
}

/** Small numbers are common in records, so that more of the reader is reached. */
function garbageByte(random: Random): number {
  return random.below(3) === 0 ? random.below(256) : random.below(4);
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.every((value, at) => value === b[at]);
}
