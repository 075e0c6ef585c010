// Proves the durable lane on real processes: one that keeps its state passes, one that forgets it
// fails by name, and one that does not come back fails all seven behaviours.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allChecks } from '../behaviours/index.ts';
import type { LaneReport } from '../run/result.ts';
import { run, started, tinyCommand } from './testing/suite-options.ts';

const durable: readonly string[] = ['B1001', 'B1002', 'B1003', 'B1004', 'B1005', 'B1006', 'B1007'];

async function judgeDurable(command: string): Promise<LaneReport> {
  const suite = await run({
    subject: started(command),
    profiles: ['durable'],
    checks: allChecks.filter(({ id }) => durable.includes(id)),
    only: new Set(durable),
  });
  const report = suite.lanes.find(({ lane }) => lane === 'durable');
  assert.ok(report !== undefined);
  return report;
}

function outcomes(report: LaneReport): Record<string, string> {
  assert.equal(report.kind, 'ran');
  return Object.fromEntries(
    report.results.map(({ behaviourId = '', outcome }) => [behaviourId, outcome.kind]),
  );
}

test('state that is kept passes', async () => {
  const report = await judgeDurable(tinyCommand('--state={state}'));
  const { B1006: _onTheFaultProvider, ...rest } = outcomes(report);
  assert.deepEqual(new Set(Object.values(rest)), new Set(['passed']));
  assert.equal(Object.keys(rest).length, 6);
  assert.ok(report.kind === 'ran');
  assert.deepEqual(report.results[0]?.name, 'TestB1001_RestartRecovery');
});

test('state that is lost is found out by name', async () => {
  const lost = outcomes(await judgeDurable(tinyCommand('--state={state}', '--forget')));
  for (const id of ['B1001', 'B1002', 'B1003', 'B1004']) assert.equal(lost[id], 'failed', id);
  assert.equal(lost['B1007'], 'passed');
});

test('a provider that does not come back fails all seven', async () => {
  const once = `test ! -e {state}.booted && touch {state}.booted && exec ${tinyCommand('--state={state}')}`;
  const report = await judgeDurable(once);
  assert.deepEqual(outcomes(report), Object.fromEntries(durable.map((id) => [id, 'failed'])));
  assert.ok(report.kind === 'ran');
  const { outcome } = report.results[0] ?? {};
  assert.ok(outcome?.kind === 'failed');
  assert.match(outcome.finding, /exited with code 1/);
});

test('a provider that does not boot breaks the lane', async () => {
  const report = await judgeDurable('echo no disk; exit 5 # {addr} {state}');
  assert.equal(report.kind, 'broken');
  assert.match(report.problem, /exited with code 5; log .*\nno disk$/s);
});
