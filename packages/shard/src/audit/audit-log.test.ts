// Proves the audit log: one JSON line per record in a fixed form, bounded, never in the way of the
// caller, reopened on request, and counting what it loses.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { BigFleetError, createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { type CapturedLog, captureSink, createLogger, createRegistry } from '@bigfleet/telemetry';
import { metricValue } from '../session/testing/metric-reader.ts';
import {
  type AppendFile,
  openAppendFile,
  type AuditLog,
  openAuditLog,
  createAuditDropCounter,
} from './audit-log.ts';

const ACTION = {
  cycle: 7,
  kind: 'Reclaim',
  machine: 'm1',
  cluster: 'blue',
  reason: 'phase3.excess',
  graceSeconds: 600,
  outcome: 'success',
} as const;

interface Opened {
  readonly audit: AuditLog;
  readonly log: CapturedLog;
  dropped(): Promise<number>;
}

async function openWith(path: string, open = openAppendFile): Promise<Opened> {
  const { runtime } = createVirtualRuntime({ seed: 'audit', drain: drainMicrotasks });
  const registry = createRegistry();
  const log = captureSink();
  const audit = await openAuditLog({
    path,
    open,
    clock: runtime.clock,
    logger: createLogger({ clock: runtime.clock, sink: log }),
    dropped: createAuditDropCounter(registry),
  });
  const name = 'bigfleet_shard_audit_records_dropped_total';
  return { audit, log, dropped: () => metricValue(registry, name) };
}

async function temporary(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'bigfleet-audit-'));
  t.after(() => rm(directory, { recursive: true }));
  return join(directory, 'audit.jsonl');
}

test('lines have a fixed form and order, and are appended', async (t) => {
  const path = await temporary(t);
  const first = await openWith(path);
  first.audit.action(ACTION);
  first.audit.admin({
    rpc: '/bigfleet.ext.v1alpha1.ShardAdmin/SetActuation',
    identity: 'bigfleet://admin',
    peer: '10.0.0.1:5',
    arguments: { paused: true, reason: 'drill' },
    outcome: 'ok',
    term: 4n,
  });
  await first.audit.close();
  const second = await openWith(path);
  second.audit.action({ ...ACTION, outcome: 'dryrun' });
  await second.audit.close();
  const lines = (await readFile(path, 'utf8')).split('\n');
  assert.equal(
    lines[0],
    '{"time":"2026-01-01T00:00:00.000Z","level":"INFO","msg":"action","cycle":7,"kind":"Reclaim",' +
      '"machine":"m1","cluster":"blue","reason":"phase3.excess","grace_seconds":600,' +
      '"outcome":"success"}',
  );
  assert.equal(
    lines[1],
    '{"time":"2026-01-01T00:00:00.000Z","level":"INFO","msg":"admin",' +
      '"rpc":"/bigfleet.ext.v1alpha1.ShardAdmin/SetActuation","identity":"bigfleet://admin",' +
      '"peer":"10.0.0.1:5","arguments":{"paused":true,"reason":"drill"},"outcome":"ok","term":"4"}',
  );
  assert.match(lines[2] ?? '', /"outcome":"dryrun"/);
  assert.equal(lines.length, 4);
  // Readable by others as far as the umask allows; writable by nobody else.
  assert.equal((await stat(path)).mode & 0o733, 0o600);
});

test('after a rotation, reopen writes to the new file and loses nothing', async (t) => {
  const path = await temporary(t);
  const { audit, dropped } = await openWith(path);
  audit.action({ ...ACTION, machine: 'before' });
  await audit.flush();
  await rename(path, `${path}.1`);
  audit.action({ ...ACTION, machine: 'still-old' });
  await audit.flush();
  audit.reopen();
  audit.action({ ...ACTION, machine: 'after' });
  await audit.close();
  const rotated = await readFile(`${path}.1`, 'utf8');
  assert.ok(rotated.includes('before') && rotated.includes('still-old'));
  assert.match(await readFile(path, 'utf8'), /^[^\n]*"after"[^\n]*\n$/);
  assert.equal(await dropped(), 0);
});

/** A disk that is full, slow, or well again, as the test says. */
class Disk {
  isFull = false;
  readonly written: string[] = [];
  openCount = 0;
  #release: (() => void) | undefined;
  isSlow = false;

  readonly open = (): Promise<AppendFile> => {
    this.openCount++;
    return Promise.resolve({
      append: async (text) => {
        if (this.isSlow) await new Promise<void>((resolve) => (this.#release = resolve));
        if (this.isFull) throw new Error('ENOSPC: no space left on device');
        this.written.push(text);
      },
      close: () => Promise.resolve(),
    });
  };

  release(): void {
    this.isSlow = false;
    this.#release?.();
  }
}

test('a full disk drops and counts, tells once, and recovers by itself', async () => {
  const disk = new Disk();
  const { audit, log, dropped } = await openWith('x', disk.open);
  disk.isFull = true;
  for (let i = 0; i < 3; i++) {
    audit.action(ACTION);
    await audit.flush();
  }
  assert.equal(await dropped(), 3);
  assert.equal(log.lines.filter((line) => line.includes('audit log cannot be written')).length, 1);
  disk.isFull = false;
  audit.action(ACTION);
  await audit.flush();
  assert.equal(disk.written.length, 1);
  assert.equal(await dropped(), 3);
  assert.ok(disk.openCount > 1);
});

test('a slow disk fills the bounded buffer and never the caller; a cycle is one write', async () => {
  const disk = new Disk();
  disk.isSlow = true;
  const { audit, dropped } = await openWith('x', disk.open);
  audit.action(ACTION);
  await drainMicrotasks();
  for (let i = 0; i < 20_000; i++) audit.action(ACTION);
  assert.equal(await dropped(), 20_000 - 16_384);
  disk.release();
  await audit.flush();
  const lines = disk.written.join('').split('\n').length - 1;
  assert.equal(lines, 1 + 16_384);
  assert.equal(disk.written.length, 1 + 16_384 / 512);
});

test('a path that cannot be opened refuses the start, with a code and its name', async (t) => {
  const path = join(await temporary(t), 'missing', 'audit.jsonl');
  await assert.rejects(openWith(path), (error: unknown) => {
    assert.ok(error instanceof BigFleetError);
    assert.equal(error.code, 'audit_log_unusable');
    assert.match(error.message, /missing.audit\.jsonl cannot be opened: ENOENT/);
    return true;
  });
});
