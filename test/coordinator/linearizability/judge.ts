// The verdict over a whole history: every register on its own, and enough heard for it to mean
// something. A history in which nothing was answered is linearizable and proves nothing.

import assert from 'node:assert/strict';
import { check, describe } from './checker.ts';
import type { History } from './history.ts';

export interface Judged {
  readonly heardCount: number;
  readonly unheardCount: number;
}

export function judge(history: History, label: string): Judged {
  let heardCount = 0;
  let unheardCount = 0;
  for (const [register, entries] of history.entries) {
    const verdict = check(entries);
    const text = verdict.kind === 'violation' ? describe(verdict.all) : '';
    assert.equal(verdict.kind, 'linearizable', `${label}, register ${register}:\n${text}`);
    const heard = entries.filter(({ answer }) => answer !== undefined).length;
    heardCount += heard;
    unheardCount += entries.length - heard;
  }
  return { heardCount, unheardCount };
}
