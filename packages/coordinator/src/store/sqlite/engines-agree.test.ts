// Proves that random command streams, applied through the real apply path, give byte-identical
// logical snapshots whichever engine stored them.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createVirtualRuntime, type Runtime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { captureSink, createLogger } from '@bigfleet/telemetry';
import fc from 'fast-check';
import { openLedger } from '../../ledger/apply-queue.ts';
import type { CommandBody } from '../../state/commands.ts';
import { arbitraryCommand } from '../../state/testing/arbitrary-commands.ts';
import type { Store } from '../store.ts';
import { MemoryStore } from '../testing/index.ts';
import { SqliteStore } from './sqlite-store.ts';

const RUNS = 40;

async function snapshotAfter(
  stream: readonly CommandBody[],
  makeStore: (runtime: Runtime) => Store,
): Promise<string> {
  const time = createVirtualRuntime({ seed: 'agree', drain: drainMicrotasks });
  const { runtime } = time;
  const store = makeStore(runtime);
  assert.equal(await store.open(), 'ready');
  const leadership = await store.campaign(new AbortController().signal);
  const log = createLogger({ clock: runtime.clock, sink: captureSink() });
  const ledger = await openLedger({ runtime, store, leadership, log });
  for (const body of stream) {
    const applied = ledger.apply(body);
    await time.runFor(1_000);
    await applied;
  }
  const snapshot = await store.snapshot('logical');
  const chunks: Uint8Array[] = [];
  for await (const chunk of snapshot?.bytes ?? []) chunks.push(chunk);
  await ledger.close();
  await store.close();
  return Buffer.concat(chunks).toString();
}

test('memory and SQLite: the same commands, the same bytes', async () => {
  const empty = await snapshotAfter([], (runtime) => new MemoryStore({ runtime }));
  let builtCount = 0;
  const streams = fc.array(arbitraryCommand, { minLength: 10, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(streams, async (stream) => {
      const dataDir = mkdtempSync(path.join(tmpdir(), 'coordinator-agree-'));
      try {
        const memory = await snapshotAfter(stream, (runtime) => new MemoryStore({ runtime }));
        const options = { dataDir, nodeId: 'n', grpcAddress: 'n:1', bootstrap: true };
        const sqlite = await snapshotAfter(
          stream,
          (runtime) => new SqliteStore({ runtime, ...options }),
        );
        assert.equal(sqlite, memory);
        if (memory.length > empty.length) builtCount += 1;
      } finally {
        rmSync(dataDir, { recursive: true, force: true });
      }
    }),
    { numRuns: RUNS },
  );
  assert.ok(builtCount > RUNS / 2, `only ${builtCount} streams built something`);
});
