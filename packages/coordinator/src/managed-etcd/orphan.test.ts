// Proves that an orphan is ended by its process id and start time together: SIGKILL when it does not
// go, and never a process that merely has the number of one that is gone.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { endOrphan, pidFileOf, writePidFile } from './orphan.ts';

function folder(context: TestContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'orphan-'));
  context.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

async function stubborn(context: TestContext) {
  const script = "process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1e6)";
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  context.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  assert.ok(child.pid !== undefined);
  return { child, pid: child.pid };
}

/** Waits are virtual: the signals follow each other at once. */
async function end(pidFile: string): Promise<void> {
  const virtual = createVirtualRuntime({ seed: 'orphan', drain: drainMicrotasks });
  const ended = endOrphan(virtual.runtime, pidFile);
  await virtual.runFor(60_000);
  await ended;
}

test('a process that ignores SIGTERM is killed, and the file is gone', async (context) => {
  const pidFile = pidFileOf(folder(context));
  const { child, pid } = await stubborn(context);
  writePidFile(pidFile, pid);
  const exited = once(child, 'exit');
  await end(pidFile);
  assert.deepEqual(await exited, [null, 'SIGKILL']);
  assert.equal(existsSync(pidFile), false);
});

test('another process with the same number is left alone', async (context) => {
  const pidFile = pidFileOf(folder(context));
  const { child, pid } = await stubborn(context);
  writePidFile(pidFile, pid);
  const ticks = /"start_ticks":"(\d+)"/;
  const text = readFileSync(pidFile, 'utf8');
  assert.match(text, ticks);
  writeFileSync(pidFile, text.replace(ticks, '"start_ticks":"1"'));
  await end(pidFile);
  assert.deepEqual([child.exitCode, child.signalCode], [null, null]);
  assert.equal(existsSync(pidFile), false);
});

for (const content of ['', '{', '[]', '{"pid":"1"}', '{"pid":1,"start_ticks":""}']) {
  test(`nothing is ended by a file that says ${JSON.stringify(content)}`, async (context) => {
    const pidFile = pidFileOf(folder(context));
    writeFileSync(pidFile, content);
    await assert.doesNotReject(end(pidFile));
  });
}
