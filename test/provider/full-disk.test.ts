// Proves a really full disk (a tmpfs of 256 KiB in a mount namespace of the provider's own):
// mutations are refused with UNAVAILABLE and leave nothing, reads go on, and when space returns the
// same calls succeed without a restart.

import assert from 'node:assert/strict';
import { closeSync, cpSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createJournalStore } from '@bigfleet/providerkit';
import { MachineState, RpcError } from '@bigfleet/wire';
import { createTempDir, startProcess } from '../toolkit/index.ts';
import { dial, type ProviderClient, providerArguments, runtime } from './child.ts';

const MOUNT = 'mount -t tmpfs -o size=256k,mode=0700 tmpfs "$0" && exec "$@"';
const MAX_ATTEMPTS = 500;

/** Undefined when this process may mount, else why not. */
async function mountProblem(folder: string): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'mounting a small tmpfs needs root; run: sudo make test';
  try {
    const probe = await startProcess({
      name: 'mount probe',
      command: 'unshare',
      args: ['--mount', 'sh', '-c', MOUNT, folder, 'true'],
    });
    const exit = await probe.waitExit();
    return exit.kind === 'code' && exit.code === 0 ? undefined : probe.output.text();
  } catch (error) {
    return `this machine refuses mount namespaces: ${String(error)}`;
  }
}

function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    const page = Buffer.alloc(4_096, 1);
    for (let pages = 0; pages < 1_000; pages++) writeSync(file, page);
    throw new Error('the disk never got full');
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error && error.code === 'ENOSPC', String(error));
  } finally {
    closeSync(file);
  }
}

function token(sequenceNumber: bigint): {
  shardId: string;
  shardEpoch: bigint;
  sequenceNumber: bigint;
} {
  return { shardId: 's', shardEpoch: 1n, sequenceNumber };
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'OK';
  } catch (error) {
    assert.ok(error instanceof RpcError, String(error));
    return error.code;
  }
}

/** Misplaced calls, each of which must make its token durable; until the last page is used up. */
async function untilRefused({ calls }: ProviderClient, machineId: string): Promise<bigint> {
  for (let sequence = 1n; sequence <= MAX_ATTEMPTS; sequence++) {
    const drain = { machineId, gracePeriodSeconds: 1n, ...token(sequence) };
    const code = await codeOf(calls.drain(drain));
    if (code === 'UNAVAILABLE') return sequence;
    assert.equal(code, 'INTERNAL', 'a drain of a slot is misplaced');
  }
  throw new Error('the full disk refused nothing');
}

test('a full disk refuses mutations, keeps reads, and recovers by itself', async (context) => {
  await using folder = createTempDir('full-disk');
  const problem = await mountProblem(folder.path);
  if (problem !== undefined) return context.skip(problem);
  const state = join(folder.path, 'state.json');
  const node = [process.execPath, ...providerArguments(['--addr=127.0.0.1:0', `--state=${state}`])];
  await using provider = await startProcess({
    name: 'provider on a small disk',
    command: 'unshare',
    args: ['--mount', 'sh', '-c', MOUNT, folder.path, ...node],
    ready: { kind: 'line', pattern: /serving CapacityProvider/ },
  });
  const line = await provider.waitForLine(/ addr=(127\S+) provider=/);
  using client = dial(line[1] ?? '');
  const { machines } = await client.calls.list({});
  const [first, second] = machines.map(({ id }) => id);
  assert.ok(first !== undefined && second !== undefined);

  const inside = join('/proc', String(provider.pid), 'root', folder.path);
  fill(join(inside, 'filler'));
  const refused = await untilRefused(client, first);
  const create = { machineId: second, ...token(1n) };
  assert.equal(await codeOf(client.calls.create(create)), 'UNAVAILABLE');
  assert.equal((await client.calls.get({ id: second })).state, MachineState.SPECULATIVE);
  assert.equal((await client.calls.list({})).machines.length, machines.length);

  rmSync(join(inside, 'filler'));
  const again = { machineId: first, gracePeriodSeconds: 1n, ...token(refused) };
  assert.equal(await codeOf(client.calls.drain(again)), 'INTERNAL', 'the refused token is unused');
  assert.equal(await codeOf(client.calls.create(create)), 'OK');

  const copy = createTempDir('full-disk-copy');
  await using _copy = copy;
  await provider.pause();
  cpSync(inside, copy.path, { recursive: true });
  await provider.resume();
  const store = createJournalStore({ path: `${copy.path}/`, runtime });
  const image = await store.load();
  const mark = image?.fences.find(({ machineId }) => machineId === first);
  assert.equal(mark?.sequence, refused);
  assert.equal(image?.operations.filter(({ kind }) => kind === 'create').length, 1);
  await store.close();
});
