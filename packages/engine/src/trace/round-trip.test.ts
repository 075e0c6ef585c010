// Proves that every entry comes back exactly, whole or in chunks of any size, with and without
// a renewal of the dictionaries, and that a writer refuses what a trace cannot hold.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createProfile } from '../model/profile.ts';
import type { Need } from '../model/need.ts';
import { cores, machine, need } from '../testing/build.ts';
import type { TraceEnd, TraceEntry } from './entry.ts';
import { hashActions } from './testing/hash-actions.ts';
import { MAX_ROLLUP_ROWS, MAX_TEXT_BYTES, type RecordingProblem } from './limits.ts';
import { traceEntries } from './testing/arbitraries.ts';
import { Chunks } from './testing/random-run.ts';
import type { TraceSource } from '../bytes/byte-source.ts';
import { TraceReader } from './trace-reader.ts';
import { TraceWriter, type TraceWriterOptions } from './trace-writer.ts';

const RUNS = Number(process.env['BIGFLEET_RUNS'] ?? 300);

test(`${RUNS} traces of hostile entries come back exactly`, () => {
  fc.assert(
    fc.property(traceEntries, (entries) => {
      const { list, end } = readAll(written(entries));
      assert.deepEqual(end, { kind: 'closed' });
      assert.deepEqual(list, entries);
      assertSameZeroes(list, entries);
    }),
    { numRuns: RUNS },
  );
});

test('dictionaries that start afresh all the time change nothing but the size', () => {
  fc.assert(
    fc.property(traceEntries, fc.integer({ min: 1, max: 20 }), (entries, dictionaryEntries) => {
      const { list, end } = readAll(written(entries, { dictionaryEntries }));
      assert.deepEqual(end, { kind: 'closed' });
      assert.deepEqual(list, entries);
    }),
    { numRuns: 100 },
  );
});

test('chunks of any size read like the whole, also through one reused buffer', () => {
  fc.assert(
    fc.property(traceEntries, fc.integer({ min: 1, max: 64 }), (entries, size) => {
      const trace = written(entries);
      assert.deepEqual(readAll(inChunks(trace, size)), readAll(trace));
      assert.deepEqual(readAll(throughOneBuffer(trace, size)), readAll(trace));
    }),
    { numRuns: 100 },
  );
});

test('what a trace cannot hold ends it with the reason, and what came before is readable', () => {
  const good: TraceEntry = { kind: 'reported', cluster: 'a' };
  const long = 'x'.repeat(MAX_TEXT_BYTES + 1);
  const row = need({ wants: cores(1) });
  const profile = { ...row.profile, fingerprint: 'p=1|another' };
  const badOperator = createProfile({
    ...row.profile,
    requirements: [{ key: 'k', operator: 9 as never, values: [] }],
  });
  const cases: readonly [RecordingProblem, TraceEntry][] = [
    ['number_is_nan', { kind: 'put', machine: machine({ id: 'm', price: Number.NaN }), nowMs: 0 }],
    ['number_is_nan', { kind: 'put', machine: machine({ id: 'm' }), nowMs: Number.NaN }],
    ['number_is_nan', { kind: 'cycle', options: { nowMs: Number.NaN } }],
    [
      'number_is_nan',
      { kind: 'cycle', options: { nowMs: 0, quotaRemaining: new Map([['p', Number.NaN]]) } },
    ],
    ['text_too_long', { kind: 'reported', cluster: long }],
    ['text_too_long', { kind: 'remove', id: long }],
    [
      'text_too_long',
      {
        kind: 'put',
        machine: { ...machine({ id: 'm' }), host: { provider: 'p', ref: long } },
        nowMs: 0,
      },
    ],
    // Every text fits, all of them together do not.
    [
      'text_too_long',
      {
        kind: 'put',
        machine: { ...machine({ id: 'm' }), labels: new Map(longLabels()) },
        nowMs: 0,
      },
    ],
    ['resource_out_of_range', rollup({ ...row, aggregate: new Map([['cpu', 0]]) })],
    ['resource_out_of_range', rollup({ ...row, aggregate: new Map([['cpu', 1.5]]) })],
    ['resource_out_of_range', rollup({ ...row, minUnit: new Map([['cpu', Number.NaN]]) })],
    ['arrival_out_of_range', rollup({ ...row, arrivalUnixNanos: 2n ** 63n })],
    ['profile_not_canonical', rollup({ ...row, profile })],
    ['profile_not_canonical', rollup({ ...row, profile: badOperator })],
    [
      'priority_out_of_range',
      { kind: 'put', machine: machine({ id: 'm', assigned: { priority: 2 ** 31 } }), nowMs: 0 },
    ],
    [
      'too_many_rows',
      {
        kind: 'rollup',
        cluster: 'a',
        needs: Array.from({ length: MAX_ROLLUP_ROWS + 1 }, () => row),
      },
    ],
    ['entry_too_large', { kind: 'held_off', heldOff: new Set(manyLongTexts()) }],
    // Small on disk, because they share their beginning; too large in a reader's memory.
    ['entry_too_large', { kind: 'rollup', cluster: 'a', needs: manyLongGroups() }],
  ];
  for (const [problem, bad] of cases) {
    const chunks = new Chunks();
    const writer = new TraceWriter(chunks.sink);
    writer.write({ kind: 'snapshot_end', machineCount: 0, rowCount: 0 });
    writer.write(good);
    writer.write(bad);
    assert.equal(writer.problem, problem);
    const size = chunks.join().length;
    writer.write(good);
    writer.close();
    assert.equal(chunks.join().length, size, `${problem}: nothing follows`);
    const { list, end } = readAll(chunks.join());
    assert.deepEqual(end, { kind: 'abandoned', reason: problem });
    assert.deepEqual(list.slice(1), [good], problem);
  }
});

test('an entry where it may not stand is a bug of the recorder', () => {
  const writer = new TraceWriter(() => undefined);
  assert.throws(() => writer.write({ kind: 'remove', id: 'm' }), /may not stand/);
  writer.write({ kind: 'snapshot_end', machineCount: 0, rowCount: 0 });
  assert.throws(
    () => writer.write({ kind: 'parking', needKey: 'k', ageCycles: 1 }),
    /may not stand/,
  );
  assert.throws(
    () =>
      writer.write({
        kind: 'decided',
        decided: { hash: hashActions([]), actionCount: 0, actions: [] },
      }),
    /may not stand/,
  );
  writer.write({ kind: 'cycle', options: { nowMs: 0 } });
  assert.throws(() => writer.write({ kind: 'remove', id: 'm' }), /may not stand/);
});

test('a sink that throws ends the trace, but stops nobody', () => {
  const chunks = new Chunks();
  let isFull = false;
  const writer = new TraceWriter((bytes) => {
    if (isFull) throw new Error('no space left');
    chunks.sink(bytes);
  });
  writer.write({ kind: 'snapshot_end', machineCount: 0, rowCount: 0 });
  writer.flush();
  isFull = true;
  writer.write({ kind: 'cycle', options: { nowMs: 1 } });
  assert.equal(writer.problem, 'sink_failed');
  isFull = false;
  writer.write({ kind: 'cycle', options: { nowMs: 2 } });
  writer.close();
  assert.deepEqual(readAll(chunks.join()).end, { kind: 'open' });
});

test('a frame is handed over before a cycle runs, and an open trace says so', () => {
  const chunks = new Chunks();
  const writer = new TraceWriter(chunks.sink);
  writer.write({ kind: 'snapshot_end', machineCount: 0, rowCount: 0 });
  writer.write({ kind: 'reported', cluster: 'a' });
  assert.equal(chunks.list.length, 1, 'the header');
  writer.write({ kind: 'cycle', options: { nowMs: 1 } });
  assert.equal(chunks.list.length, 2);
  const { list, end } = readAll(chunks.join());
  assert.deepEqual(
    list.map(({ kind }) => kind),
    ['snapshot_end', 'reported', 'cycle'],
  );
  assert.deepEqual(end, { kind: 'open' });
});

test('roll-ups of known and new rows in any order come back', () => {
  const pool = Array.from({ length: 12 }, (_, at) => need({ wants: cores(1 + at), arrival: 5n }));
  const rows = fc.array(fc.nat(11).map((at) => pool[at] as Need));
  const arrival = fc.constantFrom(0n, 5n, 2n ** 63n - 1n, -(2n ** 63n));
  fc.assert(
    fc.property(fc.array(rows, { maxLength: 5 }), arrival, (rollups, arrivalUnixNanos) => {
      const entries: TraceEntry[] = [
        { kind: 'snapshot_end', machineCount: 0, rowCount: 0 },
        ...rollups.map((needs): TraceEntry => ({ kind: 'rollup', cluster: 'a', needs })),
        { kind: 'rollup', cluster: 'a', needs: pool.map((row) => ({ ...row, arrivalUnixNanos })) },
      ];
      assert.deepEqual(readAll(written(entries)).list, entries);
    }),
  );
});

test('quotas that stay are told from quotas that change, also 0 from −0', () => {
  const decided = { hash: hashActions([]), actionCount: 0, actions: [] };
  const quotas = [
    [['p', 0]],
    [['p', 0]],
    [['p', -0]],
    [],
    [['q', 0]],
    [
      ['q', 1],
      ['p', 1],
    ],
  ] as const;
  const entries: TraceEntry[] = [{ kind: 'snapshot_end', machineCount: 0, rowCount: 0 }];
  for (const list of quotas) {
    entries.push({ kind: 'cycle', options: { nowMs: 1, quotaRemaining: new Map(list) } });
    entries.push({ kind: 'decided', decided });
  }
  const { list } = readAll(written(entries));
  assert.deepEqual(list, entries);
  assertSameZeroes(list, entries);
});

test('a roll-up that repeats its rows costs a few bytes', () => {
  const rows = Array.from({ length: 1000 }, (_, at) => need({ wants: cores(1), priority: at }));
  const chunks = new Chunks();
  const writer = new TraceWriter(chunks.sink);
  writer.write({ kind: 'snapshot_end', machineCount: 0, rowCount: 0 });
  writer.write({ kind: 'rollup', cluster: 'a', needs: rows });
  writer.flush();
  const before = chunks.join().length;
  const repeated = rows.map((row) => ({ ...row, arrivalUnixNanos: 1_767_225_600_000_000_000n }));
  writer.write({ kind: 'rollup', cluster: 'a', needs: repeated });
  writer.flush();
  const more = chunks.join().length - before;
  assert.ok(more < 40, `${more} bytes`);
  const { list } = readAll(chunks.join());
  assert.deepEqual(list.at(-1), { kind: 'rollup', cluster: 'a', needs: repeated });
});

function rollup(row: Need): TraceEntry {
  return { kind: 'rollup', cluster: 'a', needs: [row] };
}

function longLabels(): [string, string][] {
  return Array.from({ length: 3 }, (_, at) => [`key${at}`, 'x'.repeat(MAX_TEXT_BYTES / 2)]);
}

function manyLongGroups(): Need[] {
  const long = 'x'.repeat(MAX_TEXT_BYTES - 16);
  return Array.from({ length: 70 }, (_, at) => need({ wants: cores(1), group: long + String(at) }));
}

function manyLongTexts(): string[] {
  return Array.from({ length: 20 }, (_, at) => String.fromCharCode(0x100 + at).repeat(500_000));
}

function written(entries: readonly TraceEntry[], options: TraceWriterOptions = {}): Uint8Array {
  const chunks = new Chunks();
  const writer = new TraceWriter(chunks.sink, options);
  for (const entry of entries) writer.write(entry);
  writer.close();
  assert.equal(writer.problem, undefined);
  return chunks.join();
}

function readAll(source: TraceSource): {
  readonly list: TraceEntry[];
  readonly end: TraceEnd | undefined;
} {
  const reader = new TraceReader(source);
  const list = [...reader];
  return { list, end: reader.end };
}

function* inChunks(trace: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < trace.length; at += size) yield trace.slice(at, at + size);
}

function* throughOneBuffer(trace: Uint8Array, size: number): Generator<Uint8Array> {
  const buffer = new Uint8Array(size);
  for (let at = 0; at < trace.length; at += size) {
    const piece = trace.subarray(at, at + size);
    buffer.fill(0xee);
    buffer.set(piece);
    yield buffer.subarray(0, piece.length);
  }
}

/** deepEqual of the strict kind tells 0 from −0 in values, but not inside maps. */
function assertSameZeroes(a: readonly TraceEntry[], b: readonly TraceEntry[]): void {
  a.forEach((entry, at) => {
    const other = b[at];
    if (entry.kind !== 'cycle' || other?.kind !== 'cycle') return;
    for (const [name, value] of entry.options.quotaRemaining ?? []) {
      assert.ok(Object.is(value, other.options.quotaRemaining?.get(name)));
    }
  });
}
