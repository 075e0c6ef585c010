// Proves that processes start, become ready, stop, pause and die as told; that a failure message
// carries their output; and that nothing survives a test process that is itself killed.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { eventually } from './eventually.ts';
import { leasePort } from './ports.ts';
import { type ProcessSpec, startProcess } from './process.ts';
import { readProcessStat } from './process-identity.ts';

function node(script: string, rest: Partial<ProcessSpec> = {}): ProcessSpec {
  const args = ['--input-type=module', '-e', script];
  return { name: 'script', command: process.execPath, args, ...rest };
}

const IDLE = 'process.stdin.resume(); console.log("up");';
const UP = { kind: 'line', pattern: /^up$/ } as const;

test('readiness by line, by TCP and by HTTP', async () => {
  await using lease = await leasePort();
  const serve = `
    const { createServer } = await import('node:http');
    let calls = 0;
    const handler = (_, response) => { calls += 1; response.writeHead(calls < 3 ? 503 : 200); response.end(String(calls)); };
    createServer(handler).listen(${lease.port}, '127.0.0.1', () => console.log('up'));`;
  const url = `http://127.0.0.1:${lease.port}/`;
  for (const ready of [UP, { kind: 'tcp', host: '127.0.0.1', port: lease.port } as const]) {
    await using server = await startProcess(node(serve, { ready }));
    assert.equal(server.exit, undefined);
  }
  await using server = await startProcess(node(serve, { ready: { kind: 'http', url } }));
  const answer = await fetch(url);
  assert.ok(Number(await answer.text()) > 3, '503 does not count as ready');
  assert.equal(server.exit, undefined);
});

test('failures name the process and carry its output', async () => {
  const ended = node('console.log("about to fail"); process.exit(3);', { ready: UP });
  await assert.rejects(startProcess(ended), /script ended: exit code 3[\s\S]*about to fail/);

  const polled = { kind: 'tcp', host: '127.0.0.1', port: 1 } as const;
  const early = node('console.error("oops"); process.exit(4);', { ready: polled });
  await assert.rejects(startProcess(early), /exit code 4[\s\S]*oops/);

  const silent = {
    name: 'script',
    command: 'sh',
    args: ['-c', 'echo still busy; exec sleep 600'],
    ready: UP,
    readyWithinMs: 2_000,
  };
  await assert.rejects(startProcess(silent), /waited 2000 ms[\s\S]*still busy/);

  const absent = { name: 'ghost', command: 'no-such-command-here' };
  await assert.rejects(startProcess(absent), /ghost: cannot start no-such-command-here/);
});

test('stop is SIGTERM first, then SIGKILL after the bound', async () => {
  const polite = await startProcess(node(IDLE, { ready: UP }));
  assert.deepEqual(await polite.stop(), { kind: 'signal', signal: 'SIGTERM' });
  assert.deepEqual(await polite.stop(), { kind: 'signal', signal: 'SIGTERM' }, 'idempotent');

  const graceful = 'process.on("SIGTERM", () => process.exit(7));';
  const handled = await startProcess(node(graceful + IDLE, { ready: UP }));
  assert.deepEqual(await handled.stop(), { kind: 'code', code: 7 });

  const stubborn = node(`process.on("SIGTERM", () => console.log("no"));${IDLE}`, {
    ready: UP,
    stopWithinMs: 2_000,
  });
  const kept = await startProcess(stubborn);
  assert.deepEqual(await kept.stop(), { kind: 'signal', signal: 'SIGKILL' });
  assert.match(kept.output.text(), /^no$/m);
});

test('pause stops it in its tracks, resume continues, a paused one can be stopped', async () => {
  const running = await startProcess(node(IDLE, { ready: UP }));
  await running.pause();
  assert.equal(readProcessStat(running.pid)?.state, 'T');
  await running.resume();
  assert.notEqual(readProcessStat(running.pid)?.state, 'T');
  await running.pause();
  assert.deepEqual(await running.stop(), { kind: 'signal', signal: 'SIGTERM' });
});

test('children of the process go with it', async () => {
  const parent = await startProcess(
    node(
      `const { spawn } = await import('node:child_process');
       const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
       console.log('child ' + child.pid);
       process.stdin.resume();`,
    ),
  );
  const child = Number((await parent.waitForLine(/^child (\d+)$/))[1]);
  await parent.kill();
  await eventually(() => isGone(child), { what: 'child gone' });
});

test('output is bounded and keeps the end', async () => {
  const script =
    'for (let i = 0; i < 20000; i++) console.log("line " + i); console.log("x".repeat(50000));';
  const chatty = await startProcess(node(script));
  assert.deepEqual(await chatty.waitExit(), { kind: 'code', code: 0 });
  const text = chatty.output.text();
  assert.ok(text.length <= 66 * 1024, `${text.length}`);
  assert.match(text, /characters dropped/);
  assert.match(text, /x{1000}$/);
});

test('waiting for an end that does not come fails with the output', async () => {
  await using running = await startProcess(node(IDLE, { ready: UP }));
  await assert.rejects(running.waitExit(50), /script end: nothing within 50 ms\nup/);
});

test('a forgotten process neither keeps the test alive nor survives it', async () => {
  const url = JSON.stringify(new URL('./process.ts', import.meta.url).href);
  const forgetful = await startProcess(
    node(`
      const { startProcess } = await import(${url});
      const forgotten = await startProcess({ name: 'f', command: 'sleep', args: ['600'] });
      console.log('forgot ' + forgotten.pid);`),
  );
  assert.deepEqual(await forgetful.waitExit(), { kind: 'code', code: 0 });
  const pid = Number((await forgetful.waitForLine(/^forgot (\d+)$/))[1]);
  await eventually(() => isGone(pid), { what: 'forgotten process gone' });
});

test('a line printed before someone waits still counts; one that never comes rejects at the end', async () => {
  const running = await startProcess(node('console.log("first"); console.log("second 2");'));
  await running.waitExit();
  assert.equal((await running.waitForLine(/^second (\d)/))[1], '2');
  await assert.rejects(running.waitForLine(/third/), /ended: exit code 0/);
});

test('what a test starts dies with it, even when the test is killed with SIGKILL', async () => {
  const toolkit = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);
  const owner = await startProcess(
    node(`
      const { startProcess } = await import(${toolkit('./process.ts')});
      const { createTempDir } = await import(${toolkit('./temp-dir.ts')});
      const dir = createTempDir('reaped');
      const child = await startProcess({ name: 'c', command: process.execPath, args: ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'] });
      console.log('owns ' + child.pid + ' ' + dir.path);
      process.stdin.resume();`),
  );
  const [, pid, dir] = await owner.waitForLine(/^owns (\d+) (.*)$/);
  assert.ok(dir !== undefined && existsSync(dir));
  // Only the owner, not its group: the reaper and the child each have a group of their own anyway.
  owner.signal('SIGKILL');
  assert.deepEqual(await owner.waitExit(), { kind: 'signal', signal: 'SIGKILL' });
  await eventually(() => isGone(Number(pid)) && !existsSync(dir), {
    what: 'child and directory gone',
  });
});

function isGone(pid: number): boolean {
  const stat = readProcessStat(pid);
  return stat === undefined || stat.state === 'Z';
}
