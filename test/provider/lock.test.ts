// Proves that a state belongs to one process: a second one refuses to start while the first lives,
// a killed holder blocks nobody, and of several that start at once exactly one serves.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTempDir, type RunningProcess } from '../toolkit/index.ts';
import { dial, launchProvider, startProvider } from './child.ts';

const ADDR = '--addr=127.0.0.1:0';

test('a second process refuses, and a killed holder leaves no lock behind', async () => {
  await using folder = createTempDir('lock');
  const argv = [ADDR, `--state=${join(folder.path, 'state.json')}`];
  const first = await startProvider(argv);
  const second = await launchProvider(argv);
  assert.deepEqual(await second.waitExit(), { kind: 'code', code: 1 });
  assert.match(second.output.text(), /refused to start.*in use by another process/);
  assert.match(second.output.text(), /code=store_locked/);
  using client = dial(first.address);
  assert.ok((await client.calls.list({})).machines.length > 0, 'the first serves on');
  await first.process.kill();
  await using third = await startProvider(argv);
  assert.notEqual(third.address, '');
});

test('of four that start at once, one serves and three refuse', async () => {
  await using folder = createTempDir('lock-race');
  const argv = [ADDR, `--state=${join(folder.path, 'state')}/`];
  const children = await Promise.all([1, 2, 3, 4].map(() => launchProvider(argv)));
  const fates = await Promise.all(children.map(fateOf));
  assert.deepEqual(fates.toSorted(), ['refused', 'refused', 'refused', 'serves']);
  await Promise.all(children.map((child) => child.stop()));
});

async function fateOf(child: RunningProcess): Promise<'serves' | 'refused'> {
  const line = await child.waitForLine(/serving CapacityProvider|store_locked/);
  return line[0] === 'store_locked' ? 'refused' : 'serves';
}
