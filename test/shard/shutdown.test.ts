// Proves what SIGTERM does to a shard with open streams: probes say so, sessions end in good order,
// and the process ends by itself with code 0.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTempDir } from '../toolkit/index.ts';
import { launchShard } from './shard-process.ts';
import { stopWithSessions } from './stop-with-sessions.ts';

test('SIGTERM with fifty open sessions: code 0, and nothing is left to wait for', async () => {
  await stopWithSessions();
});

/** Loaded before the shard; in its workers it does nothing. */
const plantedBug = `
  import { isMainThread } from 'node:worker_threads';
  if (isMainThread) process.on('SIGUSR2', () => void Promise.reject(new Error('planted')));`;

test('a bug that nobody took ends the process in good order: told, stopped, code 1', async () => {
  await using folder = createTempDir('shard-bug');
  const planted = `data:text/javascript,${encodeURIComponent(plantedBug)}`;
  await using child = await launchShard([`--data-dir=${folder.path}`, '--fake-provider'], true, {
    NODE_OPTIONS: `--import=${planted}`,
  });
  child.signal('SIGUSR2');
  assert.deepEqual(await child.waitExit(), { kind: 'code', code: 1 });
  const output = child.output.text();
  assert.match(output, /level=ERROR msg="component exited" component=shard .*err=.*planted/);
  assert.match(output, /shard stopped/);
});
