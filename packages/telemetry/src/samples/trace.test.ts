// Proves that raw samples reach the file unchanged, that a slow, full or broken disk costs counted
// samples and never the caller, and that a file survives torn writes and restarts.

import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type BigFleetError, createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks, realRuntime } from '@bigfleet/base/real';
import fc from 'fast-check';
import { createRegistry, type MetricRegistry } from '../metrics/registry.ts';
import { scrapeFamilies, valuesOf } from '../metrics/testing/scrape-families.ts';
import { openSampleFile, type SampleFile } from './file.ts';
import { readSamples } from './reader.ts';
import { SampleTrace } from './trace.ts';

const directory = await mkdtemp(join(tmpdir(), 'bigfleet-samples-'));
after(() => rm(directory, { recursive: true }));

let files = 0;
function newPath(): string {
  return join(directory, `trace-${files++}.bin`);
}

function virtual(): VirtualRuntime {
  return createVirtualRuntime({ seed: 'samples', drain: drainMicrotasks });
}

interface Opened {
  readonly trace: SampleTrace;
  readonly registry: MetricRegistry;
  readonly errors: BigFleetError[];
}

function open(time: VirtualRuntime, file: SampleFile, capacity = 8): Opened {
  const registry = createRegistry();
  const errors: BigFleetError[] = [];
  const trace = new SampleTrace({
    runtime: time.runtime,
    file,
    registry,
    capacity,
    onError: (error) => errors.push(error),
  });
  return { trace, registry, errors };
}

async function counters(registry: MetricRegistry): Promise<{ written: number; dropped: number }> {
  const families = await scrapeFamilies(registry);
  return {
    written: valuesOf(families, 'bigfleet_telemetry_samples_written_total')[''] ?? -1,
    dropped: valuesOf(families, 'bigfleet_telemetry_samples_dropped_total')[''] ?? -1,
  };
}

/** A disk that finishes a write only when told to. */
function slowFile(): SampleFile & { finish(error?: Error): void; readonly bytes: Uint8Array[] } {
  const bytes: Uint8Array[] = [];
  let settle: ((error?: Error) => void) | undefined;
  return {
    initialBytes: 0,
    bytes,
    append: (block) =>
      new Promise((resolve, reject) => {
        assert.equal(settle, undefined, 'one write at a time');
        settle = (error) => {
          settle = undefined;
          if (error !== undefined) return reject(error);
          bytes.push(Uint8Array.from(block));
          resolve();
        };
      }),
    close: () => Promise.resolve(),
    finish: (error) => {
      assert.ok(settle !== undefined, 'no write is waiting');
      settle(error);
    },
  };
}

test('every sample is read back with its series, start and duration', async () => {
  const startMs = 5_000;
  const clock = { monotonicMs: () => startMs, unixNanos: () => 1_800_000_000_000_000_000n };
  const path = newPath();
  const registry = createRegistry();
  const trace = new SampleTrace({
    runtime: { clock, timers: realRuntime().timers },
    file: await openSampleFile(path),
    registry,
    onError: (error) => assert.fail(error),
  });
  const cycle = trace.series('cycle');
  const execute = trace.series('execute');
  assert.equal(trace.series('cycle'), cycle);
  for (let at = 1; at <= 20_000; at++) {
    cycle.record(startMs + at, at / 1_000);
    if (at % 100 === 0) execute.record(startMs, 0.127);
    if (at % 10_000 === 0) await trace.flush();
  }
  await trace.close();
  const read = await readSamples(path);
  assert.equal(read.damagedBytes, 0);
  assert.equal(read.droppedCount, 0);
  const cycles = read.series.get('cycle');
  assert.ok(cycles !== undefined);
  assert.deepEqual(
    cycles.seconds,
    Float64Array.from({ length: 20_000 }, (_, at) => (at + 1) / 1_000),
  );
  assert.equal(cycles.startUnixMs[0], 1_800_000_000_001);
  assert.equal(read.series.get('execute')?.seconds.length, 200);
  assert.deepEqual(await counters(registry), { written: 20_200, dropped: 0 });
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test('samples reach the file within about a second without any flush', async () => {
  const time = virtual();
  const disk = slowFile();
  const { trace } = open(time, disk);
  trace.series('a').record(0, 1);
  await time.runFor(999);
  assert.throws(() => disk.finish(), /no write is waiting/);
  await time.runFor(2);
  disk.finish();
  assert.equal(disk.bytes.length, 1);
  assert.equal(time.pendingTimers, 0, 'an idle trace holds no timer');
});

test('a slow disk drops the overflow, counts it, and the file says so', async () => {
  const time = virtual();
  const disk = slowFile();
  const { trace, registry } = open(time, disk, 4);
  const series = trace.series('a');
  for (let at = 0; at < 100; at++) series.record(at, at); // 4 being written, 4 waiting
  await time.runFor(0);
  disk.finish();
  await time.runFor(1_000);
  disk.finish();
  await time.runFor(0);
  assert.deepEqual(await counters(registry), { written: 8, dropped: 92 });
  const path = newPath();
  await writeFile(path, Buffer.concat(disk.bytes));
  const read = await readSamples(path);
  assert.equal(read.droppedCount, 92);
  assert.deepEqual([...(read.series.get('a')?.seconds ?? [])], [0, 1, 2, 3, 4, 5, 6, 7]);
});

test('a failing disk is reported once, costs its samples, and the trace goes on readable', async () => {
  const time = virtual();
  const disk = slowFile();
  const { trace, registry, errors } = open(time, disk);
  const series = trace.series('a');
  for (let failure = 0; failure < 3; failure++) {
    series.record(failure, 1);
    await time.runFor(1_001);
    disk.finish(new Error('ENOSPC: no space left on device'));
    await time.runFor(0);
  }
  assert.equal(errors.length, 1);
  assert.match(errors[0]?.message ?? '', /ENOSPC/);
  series.record(9, 9);
  await time.runFor(1_001);
  disk.finish();
  await time.runFor(0);
  assert.deepEqual(await counters(registry), { written: 1, dropped: 3 });
  const path = newPath();
  await writeFile(path, Buffer.concat(disk.bytes));
  const read = await readSamples(path);
  assert.deepEqual([...(read.series.get('a')?.seconds ?? [])], [9], 'the series is still named');
  assert.equal(read.droppedCount, 3);
});

test('a file at its bound takes no more, also across restarts', async () => {
  const time = virtual();
  const appended: number[] = [];
  const file: SampleFile = {
    initialBytes: 900,
    append: async (bytes) => {
      appended.push(bytes.length);
    },
    close: () => Promise.resolve(),
  };
  const registry = createRegistry();
  const errors: string[] = [];
  const trace = new SampleTrace({
    runtime: time.runtime,
    file,
    registry,
    maxBytes: 1_000,
    onError: (error) => errors.push(error.message),
  });
  trace.series('a').record(0, 1);
  await time.runFor(1_001);
  assert.deepEqual(appended, []);
  assert.match(errors[0] ?? '', /bound/);
  assert.deepEqual(await counters(registry), { written: 0, dropped: 1 });
});

test('closing waits for the disk, but not for ever; samples after it are dropped', async () => {
  const time = virtual();
  const disk = slowFile();
  const { trace, registry } = open(time, disk);
  const series = trace.series('a');
  series.record(0, 1);
  const closing = assert.rejects(trace.close(), { code: 'deadline_exceeded' });
  await time.runFor(5_001);
  await closing;
  series.record(0, 1);
  assert.equal((await counters(registry)).dropped, 1);
});

test('a restarted process appends a session with names of its own', async () => {
  const path = newPath();
  for (const [name, seconds] of [
    ['first', 1],
    ['second', 2],
  ] as const) {
    const trace = new SampleTrace({
      runtime: realRuntime(),
      file: await openSampleFile(path),
      registry: createRegistry(),
      onError: (error) => assert.fail(error),
    });
    trace.series(name).record(0, seconds);
    trace.series('both').record(0, seconds);
    await trace.close();
  }
  const read = await readSamples(path);
  assert.equal(read.sessionCount, 2);
  assert.deepEqual([...(read.series.get('first')?.seconds ?? [])], [1]);
  assert.deepEqual([...(read.series.get('second')?.seconds ?? [])], [2]);
  assert.deepEqual([...(read.series.get('both')?.seconds ?? [])], [1, 2]);
});

async function tracedFile(blocks: number): Promise<string> {
  const path = newPath();
  const runtime = realRuntime();
  const trace = new SampleTrace({
    runtime,
    file: await openSampleFile(path),
    registry: createRegistry(),
    onError: (error) => assert.fail(error),
  });
  const series = trace.series('a');
  for (let block = 0; block < blocks; block++) {
    for (let at = 0; at < 10; at++) series.record(at, block);
    await trace.flush();
  }
  await trace.close();
  return path;
}

test('a torn tail costs its block, and what a restart appends after it is read', async () => {
  const path = await tracedFile(3);
  await truncate(path, (await stat(path)).size - 5);
  await appendFile(path, await readFile(await tracedFile(2)));
  const read = await readSamples(path);
  assert.equal(read.sessionCount, 2);
  assert.equal(read.series.get('a')?.seconds.length, 40);
  assert.equal(read.damagedBytes, 16 + 200 - 5);
});

test('samples whose series was lost are not given the name of an earlier session', async () => {
  const path = await tracedFile(1);
  const second = await readFile(await tracedFile(1));
  const at = second.indexOf('"name"');
  second[at] = 0x20;
  await appendFile(path, second);
  const read = await readSamples(path);
  assert.equal(read.sessionCount, 2);
  assert.equal(read.series.get('a')?.seconds.length, 10);
});

test('any one damaged byte loses at most one block and invents nothing', async () => {
  const path = await tracedFile(5);
  const good = await readFile(path);
  const damaged = newPath();
  await fc.assert(
    fc.asyncProperty(
      fc.nat(good.length - 1),
      fc.integer({ min: 1, max: 255 }),
      async (at, flip) => {
        const bytes = Buffer.from(good);
        bytes[at] = (bytes[at] ?? 0) ^ flip;
        await writeFile(damaged, bytes);
        const read = await readSamples(damaged);
        assert.ok(read.damagedBytes > 0);
        const seconds = [...(read.series.get('a')?.seconds ?? [])];
        assert.ok(seconds.every((value) => [0, 1, 2, 3, 4].includes(value)));
        // Losing the session or the series block loses the names of all samples.
        assert.ok([0, 40, 50].includes(seconds.length), `${seconds.length} samples`);
      },
    ),
    { numRuns: 200 },
  );
});

test('a directory that does not exist is an error that says what to do', async () => {
  const path = join(directory, 'no', 'such', 'file');
  await assert.rejects(openSampleFile(path), /--trace-samples/);
});
