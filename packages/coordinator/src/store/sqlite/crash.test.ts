// Proves with real processes that SIGKILL at any moment loses no acknowledged command, applies none
// twice, frees the data directory, and that the term rises over every death.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { FleetState } from '../../state/fleet-state.ts';
import { SqliteStore } from './sqlite-store.ts';

const KILLS = 6;
const runtime = realRuntime();
const moduleAt = (relative: string): string =>
  JSON.stringify(new URL(relative, import.meta.url).href);

/** Registers shards one after the other and says each index once it is acknowledged. */
const WRITER = `
  import { SqliteStore } from ${moduleAt('./sqlite-store.ts')};
  import { openLedger } from ${moduleAt('../../ledger/apply-queue.ts')};
  import { realRuntime } from ${JSON.stringify(import.meta.resolve('@bigfleet/base/real'))};
  import { captureSink, createLogger } from ${JSON.stringify(import.meta.resolve('@bigfleet/telemetry'))};
  const runtime = realRuntime();
  const dataDir = process.argv[1];
  const store = new SqliteStore({ runtime, dataDir, nodeId: 'n', grpcAddress: 'n:1', bootstrap: true });
  await store.open();
  const leadership = await store.campaign(new AbortController().signal);
  const log = createLogger({ clock: runtime.clock, sink: captureSink() });
  const ledger = await openLedger({ runtime, store, leadership, log });
  for (;;) {
    const id = 's' + (ledger.state.meta.applyIndex + 1);
    const result = await ledger.apply({ kind: 'AddShard', id, address: 'h:1', registeredAtMs: 1 });
    if (result.kind !== 'applied') throw new Error(result.kind);
    console.log(result.index);
  }
`;

function startWriter(dataDir: string): ChildProcess {
  const args = ['--input-type=module', '--eval', WRITER, dataDir];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** The last index that the child acknowledged before it was killed. */
async function killAfter(child: ChildProcess, acknowledgements: number): Promise<number> {
  assert.ok(child.stdout !== null);
  let last = 0;
  let seen = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line);
    if (++seen === acknowledgements) child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  assert.equal(child.signalCode, 'SIGKILL');
  return last;
}

test(`${KILLS} kills: what was acknowledged stays, once, under rising terms`, async (context) => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'coordinator-crash-'));
  context.after(() => rmSync(dataDir, { recursive: true, force: true }));
  let lastTerm = 0n;
  for (let kill = 0; kill < KILLS; kill++) {
    const acknowledged = await killAfter(startWriter(dataDir), 1 + kill * 17);
    const store = new SqliteStore({
      runtime,
      dataDir,
      nodeId: 'n',
      grpcAddress: 'n:1',
      bootstrap: false,
    });
    assert.equal(await store.open(), 'ready');
    const leadership = await store.campaign(new AbortController().signal);
    const state = new FleetState(await store.load(leadership));
    const { applyIndex } = state.meta;
    assert.ok(applyIndex >= acknowledged, `${applyIndex} is below ${acknowledged}`);
    assert.ok(applyIndex <= acknowledged + 1_000, 'a killed writer does not go on');
    assert.deepEqual(
      state
        .shards()
        .map(({ uid }) => uid)
        .sort((a, b) => a - b),
      Array.from({ length: applyIndex }, (_, at) => at + 1),
    );
    assert.ok(leadership.term > lastTerm + 1n, 'the dead process had a term of its own');
    lastTerm = leadership.term;
    await store.close();
  }
});

test('another process is refused while one lives', async (context) => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'coordinator-crash-'));
  context.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const store = new SqliteStore({
    runtime,
    dataDir,
    nodeId: 'n',
    grpcAddress: 'n:1',
    bootstrap: true,
  });
  await store.open();
  const args = ['--input-type=module', '--eval', WRITER, dataDir];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  await once(child, 'close');
  assert.equal(child.exitCode, 1);
  assert.match(errors, /data dir is in use/);
  await store.close();
});
