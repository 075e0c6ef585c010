// Proves the store on the real file system: what is on disk afterwards, who may read it, and that a
// path belongs to one store at a time.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import type { Store } from '../store.ts';
import { createJournalStore } from './journal-store.ts';
import { INCARNATION, scriptedCommit, spelled, stateAfter } from './testing/scripted-commits.ts';

const runtime = realRuntime();

function temporary(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'bigfleet-journal-'));
  context.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function open(path: string): Store {
  return createJournalStore({ path, runtime });
}

async function openNew(path: string): Promise<Store> {
  const store = open(path);
  assert.equal(await store.load(), undefined);
  await store.initialise(INCARNATION);
  return store;
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

test('a new path gets its directories; the files are for the owner alone', async (context) => {
  const directory = join(temporary(context), 'deep', 'er');
  const path = join(directory, 'state.json');
  const store = await openNew(path);
  await store.commit(scriptedCommit(0));
  const names = ['state.json', 'state.json.journal.1', 'state.json.lock'];
  assert.deepEqual(readdirSync(directory).toSorted(), names);
  for (const name of names) assert.equal(modeOf(join(directory, name)), 0o600, name);
  assert.equal(modeOf(directory) & 0o722, 0o700, String(modeOf(directory)));
  await store.close();
});

test('commits survive a close', async (context) => {
  const path = join(temporary(context), 'state.json');
  const first = await openNew(path);
  await first.commit(scriptedCommit(0));
  await first.close();
  const second = open(path);
  assert.equal(spelled(await second.load()), stateAfter([scriptedCommit(0)]));
  await second.commit(scriptedCommit(1));
  await second.close();
  const third = open(path);
  assert.equal(spelled(await third.load()), stateAfter([scriptedCommit(0), scriptedCommit(1)]));
  await third.close();
});

test('an existing directory, and a path that ends with a slash, hold state.json', async (context) => {
  const directory = temporary(context);
  const existing = join(directory, 'existing');
  mkdirSync(existing);
  for (const path of [existing, `${join(directory, 'new')}/`]) {
    const store = await openNew(path);
    await store.close();
    assert.ok(statSync(join(path, 'state.json')).isFile());
  }
});

test('one store at a time, also within one process and through another spelling', async (context) => {
  const directory = temporary(context);
  const first = await openNew(join(directory, 'state.json'));
  for (const path of [
    join(directory, 'state.json'),
    `${directory}/`,
    `${directory}/./state.json`,
  ]) {
    await assert.rejects(open(path).load(), (error: Error) => {
      assert.match(error.message, /in use by another process.*state\.json\.lock.*Recreate/s);
      return 'code' in error && error.code === 'store_locked';
    });
  }
  await first.commit(scriptedCommit(0));
  await first.close();
  const next = open(join(directory, 'state.json'));
  assert.equal(spelled(await next.load()), stateAfter([scriptedCommit(0)]));
  await next.close();
});

test('a symbolic link is refused: it would bring a second lock', async (context) => {
  const directory = temporary(context);
  await (await openNew(join(directory, 'state.json'))).close();
  symlinkSync(join(directory, 'state.json'), join(directory, 'link.json'));
  await assert.rejects(open(join(directory, 'link.json')).load(), /symbolic link/);
});

test('a lock file that is something else is an error, not a lock', async (context) => {
  const directory = temporary(context);
  mkdirSync(join(directory, 'state.json.lock'));
  await assert.rejects(open(join(directory, 'state.json')).load(), { code: 'store_unavailable' });
});
