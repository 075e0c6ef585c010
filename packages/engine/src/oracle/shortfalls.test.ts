// Proves the order and the length of the shortfall report (engine §10).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Shortfall } from '../model/cycle.ts';
import { cores, need } from '../testing/build.ts';
import { reportShortfalls } from './shortfalls.ts';

function shortfall(priority: number, ageCycles: number, reclamation = 0): Shortfall {
  const { profile } = need({ wants: cores(1), priority, reclamation });
  const rest = { minUnit: cores(1), reasonCode: 'priority_starved', clusters: ['a'] } as const;
  return { profile, deficit: cores(1), ageCycles, ...rest };
}

test('priority desc, then age desc, then fingerprint asc', () => {
  const expected = [
    shortfall(9, 1),
    shortfall(5, 7, 64),
    shortfall(5, 2),
    shortfall(5, 2, 8),
    shortfall(-1, 9),
  ];
  const ledger = new Map(expected.toReversed().map((entry, at) => [String(at), entry]));
  assert.deepEqual(reportShortfalls(ledger), expected);
});

test('at most a hundred', () => {
  const ledger = new Map(
    Array.from({ length: 150 }, (_, at) => [String(at), shortfall(at, 1)] as const),
  );
  const report = reportShortfalls(ledger);
  assert.equal(report.length, 100);
  assert.equal(report[99]?.profile.priority, 50);
});
