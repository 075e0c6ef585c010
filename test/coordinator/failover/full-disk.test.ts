// Proves a coordinator on a really full disk (a tmpfs of 1 MiB in a mount namespace of its own):
// commands are refused with UNAVAILABLE, reads go on, the process stays alive, and when space returns
// the same command succeeds without a restart.

import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { RpcError } from '@bigfleet/wire';
import { createTempDir } from '../../toolkit/index.ts';
import type { CoordinatorProcess } from './coordinator-process.ts';
import { planLone } from './lone-coordinator.ts';
import { registerValues } from './register-load.ts';

const MOUNT = 'mount -t tmpfs -o size=1m,mode=0700 tmpfs "$0" && exec "$@"';
const MAX_WRITES = 2_000;
const MAX_PAGES = 10_000;

const needsRoot =
  process.getuid?.() === 0 ? {} : { skip: 'a small tmpfs needs root; run: sudo make test' };

test('a full disk refuses commands, keeps reads, and recovers by itself', needsRoot, async () => {
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(createTempDir('coordinator-full-disk'));
  const mounted = path.join(folder.path, 'small');
  mkdirSync(mounted);
  const command = (name: string, args: readonly string[]) => ({
    command: 'unshare',
    args: ['--mount', 'sh', '-c', MOUNT, mounted, name, ...args],
  });
  const lone = await planLone({ folder: mounted, command }, opened);
  await lone.start();
  await lone.waitReady();
  await registerValues(lone);
  const filler = path.join('/proc', String(lone.process.pid), 'root', mounted, 'filler');
  fill(filler);

  const refused = await untilRefused(lone);
  assert.equal(refused.code, 'UNAVAILABLE');
  assert.match(refused.error.message, /^coordinator: /);
  const { bindings } = await lone.admin.listClusterBindings({});
  assert.equal(bindings.length, refused.acknowledgedCount, 'all that was acknowledged, no more');
  assert.equal((await lone.probe('healthz')).status, 200);

  rmSync(filler);
  await bind(lone, refused.acknowledgedCount);
  const after = await lone.admin.listClusterBindings({});
  assert.equal(after.bindings.length, refused.acknowledgedCount + 1);
});

/** To the last byte. */
function fill(file: string): void {
  const isFull = (bytes: Buffer): boolean => {
    try {
      appendFileSync(file, bytes);
      return false;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return true;
      throw error;
    }
  };
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    if (isFull(Buffer.alloc(4_096, 1))) return;
  }
  throw new Error('the disk never got full');
}

async function bind({ admin }: CoordinatorProcess, at: number): Promise<void> {
  await admin.bindCluster({ clusterId: `cluster-${at}`, shardId: 'value-0', force: false });
}

interface Refused {
  readonly code: string;
  readonly error: RpcError;
  readonly acknowledgedCount: number;
}

/** The log may have room of its own for a while. */
async function untilRefused(lone: CoordinatorProcess): Promise<Refused> {
  for (let at = 0; at < MAX_WRITES; at += 1) {
    try {
      await bind(lone, at);
    } catch (error) {
      assert.ok(error instanceof RpcError, String(error));
      return { code: error.code, error, acknowledgedCount: at };
    }
  }
  throw new Error('the full disk refused nothing');
}
