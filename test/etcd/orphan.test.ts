// Proves that an etcd which outlived its killed coordinator is ended by the next one on the same
// data directory, which then serves what it held.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import {
  createTempDir,
  etcdGet,
  etcdHealthy,
  etcdPut,
  eventually,
  leasePort,
} from '../toolkit/index.ts';
import { etcdBinaries } from './binaries.ts';

const MAIN = path.join(import.meta.dirname, 'managed-main.ts');

/** A zombie that nobody reaps has ended too. */
function isAlive(pid: number): boolean {
  const folder = `/proc/${pid}`;
  return existsSync(folder) && !/^State:\s+Z/m.test(readFileSync(`${folder}/status`, 'utf8'));
}

/** A parent of its own kind: the toolkit's processes take their children with them. */
class Coordinator implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #pidFile: string;
  /** Every one that it is known to have had; bounded by what the test looks at. */
  readonly #etcdPids = new Set<number>();

  constructor(dataDir: string, ports: readonly number[]) {
    this.#pidFile = path.join(dataDir, 'etcd.pid');
    const args = [MAIN, etcdBinaries().etcd, dataDir, ...ports.map(String)];
    this.#child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  }

  async started(): Promise<string> {
    const { stdout } = this.#child;
    assert.ok(stdout !== null);
    const [chunk] = (await once(stdout, 'data')) as [Buffer];
    return chunk.toString().trim();
  }

  get etcdPid(): number {
    const { pid } = JSON.parse(readFileSync(this.#pidFile, 'utf8')) as { pid: number };
    this.#etcdPids.add(pid);
    return pid;
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }

  /** With its etcd, which nothing else would end. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    if (existsSync(this.#pidFile)) this.#etcdPids.add(this.etcdPid);
    for (const pid of this.#etcdPids) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  }
}

test('the next coordinator ends the etcd of a killed one and goes on with its data', async () => {
  await using folder = createTempDir('orphan');
  await using client = await leasePort();
  await using peer = await leasePort();
  const dataDir = path.join(folder.path, 'data');
  const endpoint = { url: `http://127.0.0.1:${client.port}` };
  const begin = (): Coordinator => new Coordinator(dataDir, [client.port, peer.port]);
  const healthy = (): Promise<unknown> =>
    eventually(() => etcdHealthy(endpoint), { what: 'etcd answers' });

  await using first = begin();
  assert.equal(await first.started(), 'started bootstrap');
  await healthy();
  await etcdPut(endpoint, 'key', 'before');
  const orphan = first.etcdPid;
  await first.kill();
  assert.ok(isAlive(orphan), 'it outlives its parent');

  await using second = begin();
  assert.equal(await second.started(), 'started resume');
  assert.equal(isAlive(orphan), false);
  assert.notEqual(second.etcdPid, orphan);
  await healthy();
  assert.equal(await etcdGet(endpoint, 'key'), 'before');
});
