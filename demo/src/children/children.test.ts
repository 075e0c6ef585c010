// Proves, with real processes, that a killed one is started again and one that ends by itself is not, that a
// stop leaves none behind at any moment, nor does a kill of the demo itself, and which etcd the demo takes.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BigFleetError } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import {
  builtPrograms,
  createTempDir,
  eventually,
  type GoModule,
  goCacheFolder,
  requireCommand,
} from '../../../test/toolkit/index.ts';
import { etcdBinary } from '../etcd-binary.ts';
import { Child } from './child.ts';
import { RevivedChild } from './revived-child.ts';

const runtime = realRuntime();
/** Says ready for all of them: what is tested is the life of processes. */
const readiness = createServer((_request, response) => response.end());
before(async () => {
  readiness.listen(0, '127.0.0.1');
  await once(readiness, 'listening');
});
after(() => readiness.close());

const FOREVER = 'setInterval(() => {}, 1000)';

interface Subject {
  readonly revived: RevivedChild;
  readonly told: string[];
  readonly startCount: () => number;
}

function revivedOf(t: TestContext, code: string, afterMs = 1): Subject {
  const dir = createTempDir('revived');
  const { port } = readiness.address() as AddressInfo;
  const told: string[] = [];
  let startCount = 0;
  const start = (): Child => {
    startCount += 1;
    return new Child({
      runtime,
      name: 'subject',
      command: [process.execPath, '-e', code],
      logFile: path.join(dir.path, 'log'),
      readyUrls: [`http://127.0.0.1:${port}/readyz`],
    });
  };
  const tell = (line: string): void => {
    told.push(line);
  };
  const revived = new RevivedChild({ runtime, start, afterMs, tell });
  t.after(async () => {
    await revived.stop();
    await dir.remove();
  });
  return { revived, told, startCount: () => startCount };
}

const never = new AbortController().signal;

function isAlive(pid: number | undefined): boolean {
  try {
    return process.kill(pid ?? 0, 0);
  } catch {
    return false;
  }
}

test('a killed process is started again, as another process, and both are told', async (t) => {
  const { revived, told } = revivedOf(t, FOREVER);
  await revived.ready(never);
  const { pid } = revived.kill();
  await eventually(() => revived.revivalCount === 1, { what: 'it serves again' });
  assert.notEqual(revived.pid, pid);
  assert.equal(isAlive(pid), false);
  assert.equal(isAlive(revived.pid), true);
  assert.match(told[0] ?? '', /^subject was killed \(SIGKILL\); .*starts again/);
  assert.equal(told[1], `subject serves again as process ${revived.pid}`);
});

test('what is down already cannot be killed, and a stop does not wait for it', async (t) => {
  const { revived, startCount } = revivedOf(t, FOREVER, 3_600_000);
  await revived.ready(never);
  revived.kill();
  await eventually(() => !revived.isServing, { what: 'it is down' });
  assert.throws(
    () => revived.kill(),
    (error) => error instanceof BigFleetError && /is down already/.test(error.message),
  );
  await revived.stop();
  assert.equal(startCount(), 1);
});

test('a process that ends by itself is not started again', async (t) => {
  // Not before it is known to be ready, however long that takes.
  const dir = createTempDir('ends');
  t.after(() => dir.remove());
  const word = path.join(dir.path, 'end');
  const isSaid = `require('node:fs').existsSync(${JSON.stringify(word)})`;
  const { revived, startCount } = revivedOf(
    t,
    `setInterval(() => ${isSaid} && process.exit(3), 20)`,
  );
  await revived.ready(never);
  writeFileSync(word, '');
  await assert.rejects(revived.died, /the subject ended \(exit code 3\); the end of/);
  assert.equal(startCount(), 1);
});

test('a process that dies before it is ready ends the wait at once', async (t) => {
  const dir = createTempDir('child');
  t.after(() => dir.remove());
  const child = new Child({
    runtime,
    name: 'subject',
    command: [process.execPath, '-e', 'console.error("no such flag"); process.exit(2)'],
    logFile: path.join(dir.path, 'log'),
    readyUrls: ['http://127.0.0.1:9/readyz'],
  });
  await assert.rejects(child.ready(never), /ended \(exit code 2\); .*no such flag/s);
});

/** Starts a child, says its pid, and stays. */
const OWNER = `
  import { realRuntime } from '@bigfleet/base/real';
  import { Child } from ${JSON.stringify(new URL('./child.ts', import.meta.url).href)};
  const child = new Child({
    runtime: realRuntime(),
    name: 'orphan',
    command: [process.execPath, '-e', process.argv[1]],
    logFile: process.argv[2],
    readyUrls: [],
  });
  console.log(child.pid);
`;

test('a killed demo leaves no process behind', async (t) => {
  const dir = createTempDir('orphan');
  t.after(() => dir.remove());
  const args = ['--input-type=module', '-e', OWNER, FOREVER, path.join(dir.path, 'log')];
  const owner = spawn(process.execPath, args, {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => owner.kill('SIGKILL'));
  const [said] = (await once(owner.stdout, 'data')) as [Buffer];
  const pid = Number(said.toString());
  t.after(() => isAlive(pid) && process.kill(pid, 'SIGKILL'));
  assert.equal(isAlive(pid), true);
  owner.kill('SIGKILL');
  await eventually(() => !isAlive(pid), { what: 'the child of a killed demo ends' });
});

/** As the tests of the coordinator know it (test/etcd). */
const etcdModule: GoModule = {
  name: 'etcd',
  folder: fileURLToPath(new URL('../../../test/etcd/', import.meta.url)),
  programs: { etcd: 'etcd', etcdutl: 'etcdutl' },
};

test('the etcd of the demo is the one that the tests run on', () => {
  const ofTests = builtPrograms(etcdModule)?.['etcd'] ?? requireCommand('etcd');
  assert.equal(etcdBinary(process.env), ofTests);
});

test('an etcd that was built comes before one that is installed, as in the tests', async (t) => {
  const cache = createTempDir('cache');
  const before = process.env['XDG_CACHE_HOME'];
  t.after(async () => {
    if (before === undefined) delete process.env['XDG_CACHE_HOME'];
    else process.env['XDG_CACHE_HOME'] = before;
    await cache.remove();
  });
  process.env['XDG_CACHE_HOME'] = cache.path;
  const folder = goCacheFolder(etcdModule);
  mkdirSync(folder, { recursive: true });
  for (const name of ['etcd', 'etcdutl']) {
    writeFileSync(path.join(folder, name), '#!/bin/sh\n', { mode: 0o755 });
  }
  assert.equal(builtPrograms(etcdModule)?.['etcd'], path.join(folder, 'etcd'));
  assert.equal(etcdBinary(process.env), path.join(folder, 'etcd'));
});
