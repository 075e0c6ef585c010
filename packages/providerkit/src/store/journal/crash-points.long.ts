// Proves the crash law over random histories: commits alone and together, compactions of any
// rhythm, deaths at any byte, restarts, until BIGFLEET_LONG_MS is over.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, type Random } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { History, sweep } from './testing/crash-sweep.ts';
import { scriptedCommit } from './testing/scripted-commits.ts';

const DEFAULT_MS = 120_000;
const MAX_HISTORIES = 10_000;
const STEPS = 8;

async function randomHistory(random: Random): Promise<History> {
  const minCompactBytes = [1, 200, 600, 1_500, 100_000][random.below(5)] ?? 1;
  const maxBatchBytes = [1, 300, 1 << 20][random.below(3)] ?? 1;
  const history = new History({ minCompactBytes, maxBatchBytes, repairPauseMs: 0 });
  await history.begin();
  for (let step = 0; step < STEPS; step++) {
    const count = 1 + random.below(3);
    const at = history.commits.length + random.below(50);
    const batch = Array.from({ length: count }, (_, index) => scriptedCommit(at + index));
    const kind = random.below(6);
    if (kind === 0) await history.reopen();
    else if (kind === 1) await history.dieDuring(scriptedCommit(at), random.below(400));
    else await history.commit(batch);
  }
  await history.close();
  return history;
}

test('random histories are safe at every byte', async (context) => {
  const { clock } = realRuntime();
  const deadlineMs = clock.monotonicMs() + Number(process.env['BIGFLEET_LONG_MS'] ?? DEFAULT_MS);
  const base = process.env['BIGFLEET_SEED'] ?? 'crash points';
  let loads = 0;
  let histories = 0;
  while (histories < MAX_HISTORIES && clock.monotonicMs() < deadlineMs) {
    const seed = `${base} ${histories}`;
    try {
      loads += await sweep(await randomHistory(createRandom(seed)));
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
    histories += 1;
  }
  context.diagnostic(`${histories} histories, ${loads} loads, seeds "${base} 0" on`);
  assert.ok(histories > 0);
});
