// Proves what a live pass says about rows that it did not answer: one line each with every reason
// code, none for rows that are too young to be answered, and a bound on all of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { captureSink, createLogger } from '@bigfleet/telemetry';
import type { Considered, Plan, Rejection } from '../moves/plan.ts';
import { DEFAULT_REBALANCE_SETTINGS } from '../moves/settings.ts';
import { logPlan } from './pass-log.ts';

const clock = { monotonicMs: () => 0, unixNanos: () => 0n };

function row(fingerprint: string, rejections: readonly Rejection[]): Considered {
  const ref = { shardId: 'short', fingerprint, priority: 100, ageCycles: 9, reasonCode: '' };
  return { shortfall: ref, move: undefined, rejections };
}

function rejection(
  tier: Rejection['tier'],
  reason: Rejection['reason'],
  donor: string = '',
): Rejection {
  return { tier, reason, donor, provider: '' };
}

function lines(considered: readonly Considered[], isDryRun = false): readonly string[] {
  const sink = captureSink();
  const plan: Plan = { moves: [], considered, droppedRejections: 0, exhausted: new Set() };
  const settings = { ...DEFAULT_REBALANCE_SETTINGS, isDryRun };
  logPlan(createLogger({ clock, sink }), plan, settings);
  return sink.lines;
}

test('one line per row, with each reason once and how many donors were looked at', () => {
  const [line = '', ...others] = lines([
    row('fp-1', [
      rejection(1, 'donor_short', 'a'),
      rejection(1, 'donor_short', 'b'),
      rejection(1, 'no_idle_above_margin', 'c'),
      rejection(2, 'not_quota_bound'),
      rejection(3, 'age_below_preempt_gate'),
    ]),
  ]);
  assert.deepEqual(others, []);
  assert.match(line, /msg="rebalance: shortfall not answered" to=short fingerprint=fp-1 /);
  assert.match(
    line,
    /reasons="?1:donor_short,1:no_idle_above_margin,2:not_quota_bound,3:age_below_preempt_gate"?/,
  );
  assert.match(line, / donors=3\b/);
});

test('a row that is too young is not a row that was refused', () => {
  assert.deepEqual(lines([row('fp-1', [rejection(0, 'age_below_gate')])]), []);
});

test('twenty lines, then a count', () => {
  const rows = Array.from({ length: 57 }, (_, at) =>
    row(`fp-${at}`, [rejection(0, 'recipient_stale')]),
  );
  const written = lines(rows);
  assert.equal(written.length, 21);
  assert.match(written.at(-1) ?? '', /further shortfalls not answered" rows=37/);
});

test('a dry run prints every rejection instead', () => {
  const rejections = [rejection(1, 'donor_short', 'a'), rejection(2, 'not_quota_bound')];
  const written = lines([row('fp-1', rejections)], true);
  assert.equal(written.length, 2);
  assert.ok(written.every((line) => line.includes('rebalance dry-run: passed over')));
});
