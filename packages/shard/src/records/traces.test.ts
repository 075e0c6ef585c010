// Proves that traces and records share one bound of bytes, that a trace is rotated before it fills
// its share, and that a lost part costs its trace and nothing else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { replay } from '@bigfleet/engine';
import { createInlineHost } from '../engine-host/inline-host.ts';
import { RandomInputs } from '../engine-host/testing/random-inputs.ts';
import { MemorySegments } from './testing/memory-segments.ts';
import { RecordWriter } from './record-writer.ts';
import type { SegmentFiles } from './segment-files.ts';

interface World {
  readonly time: VirtualRuntime;
  readonly files: MemorySegments;
  readonly writer: RecordWriter;
  readonly errors: unknown[];
  readonly hashes: string[];
  readonly disk: { isFull: boolean };
  rotationCount(): number;
  /** So many cycles, one a second; after each the bound is checked. */
  run(cycles: number): Promise<void>;
}

function world(maxBytes: number): World {
  const time = createVirtualRuntime({ seed: 3n, drain: drainMicrotasks });
  const { runtime } = time;
  const timers = { ...runtime.timers, turn: () => Promise.resolve() };
  const host = createInlineHost({ ...runtime, timers }, { hasTrace: true });
  const inputs = new RandomInputs(9n);
  const files = new MemorySegments();
  const disk = { isFull: false };
  const errors: unknown[] = [];
  const hashes: string[] = [];
  let rotationCount = 0;
  const writer = new RecordWriter({
    files: failing(files, disk),
    clock: runtime.clock,
    epoch: 7n,
    maxBytes,
    onError: (error) => errors.push(error),
    rotateTrace: () => {
      rotationCount++;
      host.rotateTrace();
    },
  });
  const run = async (cycles: number): Promise<void> => {
    for (let cycle = 0; cycle < cycles; cycle++) {
      for (let input = 0; input < 5; input++) await inputs.apply([host], time.nowMs);
      const answer = await host.cycle({ nowMs: time.nowMs });
      hashes.push(answer.actionHash);
      writer.append({ ...answer, dispositions: new Uint8Array(0) });
      await writer.flush();
      const stored = (await files.list()).reduce((sum, { bytes }) => sum + bytes, 0);
      assert.ok(stored <= maxBytes, `${stored} bytes after cycle ${hashes.length}`);
      assert.ok(disk.isFull || writer.storedBytes >= stored);
      await time.runFor(1_000);
    }
  };
  return { time, files, writer, errors, hashes, disk, rotationCount: () => rotationCount, run };
}

function failing(files: SegmentFiles, disk: { readonly isFull: boolean }): SegmentFiles {
  return {
    list: () => files.list(),
    read: (name, bytes) => files.read(name, bytes),
    remove: (name) => files.remove(name),
    create: async (name) => {
      const file = await files.create(name);
      return {
        close: () => file.close(),
        append: async (bytes) => {
          if (disk.isFull) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
          await file.append(bytes);
        },
      };
    },
  };
}

async function replayed(files: SegmentFiles): Promise<string[]> {
  const hashes: string[] = [];
  for (const { name, kind } of await files.list()) {
    if (kind !== 'trace') continue;
    const report = replay(await files.read(name));
    assert.equal(report.outcome, 'identical', name);
    hashes.push(...report.hashes);
  }
  return hashes;
}

test('every cycle is in a trace while the bound is large enough', async () => {
  const { run, files, hashes, errors, rotationCount } = world(1 << 24);
  await run(60);
  assert.deepEqual(await replayed(files), hashes);
  assert.equal(rotationCount(), 0);
  assert.deepEqual(errors, []);
});

test('within a small bound traces rotate, the oldest go, and the newest cycles stay', async () => {
  const { run, files, hashes, rotationCount, writer } = world(150_000);
  await run(300);
  assert.ok(rotationCount() > 2, `${rotationCount()} rotations`);
  const kept = await replayed(files);
  assert.ok(kept.length > 20 && kept.length < 300, `${kept.length} cycles`);
  assert.deepEqual(kept, hashes.slice(-kept.length));
  const kinds = new Set((await files.list()).map(({ kind }) => kind));
  assert.deepEqual([...kinds].sort(), ['records', 'trace']);
  assert.equal(writer.droppedCount, 0);
});

test('a disk that refuses ends the trace; another one begins once it takes bytes again', async () => {
  const { run, files, disk, errors, rotationCount, hashes } = world(1 << 24);
  await run(10);
  disk.isFull = true;
  await run(30);
  assert.ok(rotationCount() <= 1, 'not asked for in every cycle: each costs the whole fleet');
  disk.isFull = false;
  const before = hashes.length;
  await run(120);
  assert.ok(rotationCount() >= 1 && rotationCount() <= 3);
  assert.ok(errors.length > 0);
  const traces = (await files.list()).filter(({ kind }) => kind === 'trace');
  const last = replay(await files.read(traces.at(-1)?.name ?? ''));
  assert.equal(last.outcome, 'identical');
  assert.ok(last.hashes.length > 50, `${last.hashes.length} cycles since cycle ${before}`);
  assert.deepEqual(last.hashes, hashes.slice(-last.hashes.length));
});

test('a fleet that is too large for traces keeps its records', async () => {
  const { run, files, errors, rotationCount } = world(12_000);
  await run(120);
  assert.equal(errors.length, 1);
  assert.match(String(errors[0]), /a trace begins with \d+ bytes, the bound is 12000/);
  const count = rotationCount();
  await run(120);
  assert.equal(rotationCount(), count, 'given up, not tried again');
  assert.equal(errors.length, 1);
  assert.ok((await files.list()).some(({ kind }) => kind === 'records'));
});
