// Proves that the page of series is what the processes of today define, that a scrape shows nothing
// besides, and that the page changes when a series does.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { COMMAND, observabilityPage, PAGE } from './page.ts';
import { definedSeries, type ProcessSeries } from './processes.ts';

let processes: readonly ProcessSeries[] = [];

before(async () => {
  processes = await definedSeries();
});

test('the page is current', () => {
  const current = readFileSync(path.join(import.meta.dirname, '../../..', PAGE), 'utf8');
  assert.equal(current, observabilityPage(processes), `run ${COMMAND}`);
});

test('the generator agrees, as make check would run it', () => {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, [main, '--check'], { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});

test('a scrape shows only what is on the page', () => {
  for (const each of processes) assert.deepEqual(each.undefined, [], each.process);
});

test('every process has its own series on the page', () => {
  const text = observabilityPage(processes);
  for (const name of [
    'bigfleet_shard_cycle_duration_seconds',
    'bigfleet_shard_coordinator_report_total',
    'bigfleet_coordinator_raft_term',
    'bigfleet_operator_rollup_duration_seconds',
    'bigfleet_operator_evictions_total',
    'bigfleet_unschedulable_pod_controller_reconciles_total',
    'bigfleet_<p>_transitions_total',
    'bigfleet_transport_insecure',
  ]) {
    assert.ok(text.includes(`| \`${name}\` |`), name);
  }
});

test('a new value of a label changes the page', () => {
  const changed = processes.map((each) => ({
    ...each,
    series: each.series.map((metric) => ({ ...metric, labels: { ...metric.labels, new: ['x'] } })),
  }));
  assert.notEqual(observabilityPage(changed), observabilityPage(processes));
});
