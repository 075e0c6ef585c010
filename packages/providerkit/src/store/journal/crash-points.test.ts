// Proves that a run cut at any byte, by a killed process or by a power loss, loads exactly the
// acknowledged commits, in order, plus at most those that were under way.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { History, sweep } from './testing/crash-sweep.ts';
import { scriptedCommit } from './testing/scripted-commits.ts';

test('every byte of the scripted run is a safe place to stop', async (context) => {
  // So small that the script goes through several generations.
  const history = new History({ minCompactBytes: 700, repairPauseMs: 0 });
  let next = 0;
  const script = (count: number): ReturnType<typeof scriptedCommit>[] =>
    Array.from({ length: count }, () => scriptedCommit(next++));

  await history.begin();
  for (const changes of script(6)) await history.commit([changes]);
  await history.commit(script(3));
  await history.dieDuring(scriptedCommit(next), 45);
  for (const changes of script(5)) await history.commit([changes]);
  await history.reopen();
  await history.commit(script(1));
  await history.close();

  const { events } = history.disk;
  const snapshots = events.filter(({ kind }) => kind === 'rename').length;
  assert.ok(snapshots >= 4, `the script compacts often enough: ${snapshots}`);
  const loads = await sweep(history);
  context.diagnostic(`${loads} loads after ${events.length} disk operations`);
});
