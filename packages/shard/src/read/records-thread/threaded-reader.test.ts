// Proves that records read in a thread are those of the library, that a scan is pulled and can be
// left at any time, and that threads are bounded and end with their job.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { fourCores, openRails } from '../../core/testing/stage.ts';
import { explainRecords } from '../../offline/explain-records.ts';
import { directorySegments } from '../../records/segment-files.ts';
import { ReadStage } from '../testing/read-stage.ts';
import { ThreadedRecordsReader } from './threaded-reader.ts';

const directory: string = mkdtempSync(path.join(tmpdir(), 'bigfleet-read-'));
const never: AbortSignal = new AbortController().signal;

test.before(async () => {
  const stage = new ReadStage('thread');
  for (let at = 0; at < 4; at++) stage.fake.addIdle(fourCores(`host-${at}`));
  stage.core.start();
  await stage.demand('blue', 8);
  await stage.time.runFor(60_000);
  stage.rails = { ...openRails, isPaused: true };
  await stage.demand('blue', 4);
  await stage.time.runFor(1_000);
  await stage.stop();
  for (const { name } of await stage.segments.list()) {
    writeFileSync(path.join(directory, name), await stage.segments.read(name));
  }
});
test.after(() => rmSync(directory, { recursive: true }));

test('an explanation in a thread is the library one', async () => {
  const reader = new ThreadedRecordsReader(realRuntime(), directory);
  const question = { subject: { machineId: 'host-0' } };
  const result = await reader.explain(question, never);
  assert.equal(result.kind, 'answered');
  assert.deepEqual(result, await explainRecords(directorySegments(directory), question));
});

test('a scan gives every record in order and can be left', async () => {
  const reader = new ThreadedRecordsReader(realRuntime(), directory);
  const cycles: number[] = [];
  let saidCount = 0;
  for await (const { cycle, payload, dispositions } of reader.scan({}, never)) {
    assert.ok(payload.length > 0 && payload.buffer.byteLength === payload.length);
    assert.equal(dispositions.buffer.byteLength, dispositions.length);
    if (dispositions.length > 0) saidCount += 1;
    cycles.push(Number(cycle));
  }
  assert.ok(saidCount > 0, 'what the pause held back crosses too');
  assert.ok(cycles.length > 3);
  assert.deepEqual(
    cycles,
    cycles.map((_, at) => at + 1),
  );
  assert.equal(await reader.oldestCycle(), 1n);
  for await (const { cycle } of reader.scan({ fromCycle: 2n }, never)) {
    assert.equal(cycle, 2n);
    break;
  }
});

test('eight at once, not one more; who is left or aborted gives its place back', async () => {
  const reader = new ThreadedRecordsReader(realRuntime(), directory);
  const aborting = new AbortController();
  const scans = Array.from({ length: 8 }, () => reader.scan({}, aborting.signal));
  for (const scan of scans) await scan.next();
  const isFull = (error: unknown): boolean =>
    error instanceof BigFleetError && error.code === 'feed_readers_exceeded';
  await assert.rejects(reader.scan({}, never).next(), isFull);
  aborting.abort(new Error('enough'));
  for (const scan of scans) await assert.rejects(scan.next(), /enough/);
  const free = reader.scan({}, never);
  assert.equal((await free.next()).done, false);
  await free.return();
});
