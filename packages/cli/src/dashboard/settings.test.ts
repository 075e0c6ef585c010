// Proves that the dashboard takes exactly the command lines that it should, and says which flag is wrong and
// what would have been right.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { parseFlags } from '@bigfleet/process/flags';
import { runCommand } from '../testing/run-bigfleet.ts';
import { dashboardFlags } from './flags.ts';
import { type DashboardCommand, dashboardSettings, dashboardWarnings } from './settings.ts';

function read(...argv: readonly string[]): ReturnType<typeof dashboardSettings> {
  const parsed = parseFlags(dashboardFlags, argv);
  return parsed.ok ? dashboardSettings(parsed.value, {}) : parsed;
}

function accepted(...argv: readonly string[]): DashboardCommand {
  const settings = read(...argv);
  assert.ok(settings.ok, settings.ok ? '' : settings.error);
  return settings.value;
}

test('what is given is what it starts with', () => {
  const { settings, kubeconfigs } = accepted(
    '--listen=127.0.0.1:0',
    '--shard=shard-0=10.0.0.1:7780',
    '--shard=shard-1=unix:/run/shard.sock',
    '--coordinator=a:7790,b:7790',
    '--records-dir=shard-0=/data/records=old',
    '--kubeconfig=blue=/etc/blue.yaml',
    '--simulated',
    '--allowed-host=Fleet.Example',
    '--team=search=search-*',
    '--team=Ads & video=*-ads',
    '--team=search=index',
    '--conformance=aws=/reports/aws=1/report.json',
    '--history-bytes=1Mi',
  );
  assert.deepEqual(settings.listen, { kind: 'listen', host: '127.0.0.1', port: 0 });
  assert.deepEqual(settings.shards, [
    { shard: 'shard-0', address: '10.0.0.1:7780' },
    { shard: 'shard-1', address: 'unix:/run/shard.sock' },
  ]);
  assert.deepEqual(settings.coordinators, ['a:7790', 'b:7790']);
  assert.deepEqual([...settings.recordsDirs], [['shard-0', '/data/records=old']]);
  assert.deepEqual([...kubeconfigs], [['blue', '/etc/blue.yaml']]);
  assert.deepEqual([settings.isSimulated, settings.historyBytes], [true, 1 << 20]);
  assert.deepEqual(settings.allowedHosts, ['fleet.example']);
  assert.deepEqual(settings.teams, [
    { team: 'search', pattern: 'search-*' },
    { team: 'Ads & video', pattern: '*-ads' },
    { team: 'search', pattern: 'index' },
  ]);
  assert.deepEqual([...settings.conformanceReports], [['aws', '/reports/aws=1/report.json']]);
  assert.deepEqual(settings.rackLabels, ['topology.bigfleet/rack']);
  assert.deepEqual(accepted('--rack-label=a', '--rack-label=b').settings.rackLabels, ['a', 'b']);
});

test('a wrong command line names the flag and what would have been right', () => {
  const cases: readonly [string, RegExp][] = [
    ['--listen=0', /--listen: a dashboard without a port shows nothing/],
    ['--listen=8760', /--listen: .*write :8780/],
    ['--shard=shard-0', /--shard=shard-0: write <name>=<value>/],
    ['--shard==a:1', /--shard==a:1: write <name>=<value>/],
    ['--shard=shard-0=', /write <name>=<value>/],
    ['--shard=shard 0=a:1', /--shard=shard 0=a:1: /],
    ['--shard=shard-0=host', /"host" is not host:port or unix:\/path/],
    ['--coordinator=host', /--coordinator: "host" is not host:port/],
    ['--records-dir=x', /--records-dir=x: write <name>=<value>/],
    ['--kubeconfig=/etc/x', /--kubeconfig=\/etc\/x: write <name>=<value>/],
    ['--team=search', /--team=search: write <team>=<pattern>/],
    ['--team==search-*', /--team==search-\*: write <team>=<pattern>/],
    ['--team=search=', /--team=search=: "" matches no cluster: .*\* for any text/],
    ['--team=search=a b', /"a b" matches no cluster/],
    [`--team=${'x'.repeat(200)}=*`, /at most 128 characters/],
    ['--conformance=report.json', /--conformance=report\.json: write <name>=<value>/],
    ['--conformance=aws=', /--conformance=aws=: write <name>=<value>/],
    ['--conformance=a\nb=x', /no control characters/],
    ['--max-streams=0', /--max-streams is at least 1/],
    ['--history-bytes=lots', /512Mi/],
    ['--provider-metrics=x', /provider-metrics/],
  ];
  for (const [argument, problem] of cases) {
    const settings = read(argument);
    assert.ok(!settings.ok, argument);
    assert.match(settings.error, problem, argument);
  }
  const twice = read('--shard=a=x:1', '--shard=a=y:1');
  assert.ok(!twice.ok);
  assert.match(twice.error, /--shard: a is named twice/);
  const reports = read('--conformance=aws=a.json', '--conformance=aws=b.json');
  assert.ok(!reports.ok);
  assert.match(reports.error, /--conformance: aws is named twice/);
  const teams = read('--team=a=x-*', '--team=b=x-*');
  assert.ok(!teams.ok);
  assert.match(teams.error, /--team: the pattern x-\* is given twice, for a and b/);
});

test('what is odd is said and starts', () => {
  const warnings = (...argv: string[]): string => dashboardWarnings(accepted(...argv)).join('\n');
  assert.match(warnings('--listen=127.0.0.1:1'), /^nothing to show: name shards with --shard/);
  assert.match(warnings('--shard=a=b:1'), /^HTTP is plaintext and open to the network/);
  assert.equal(warnings('--listen=127.0.0.1:1', '--coordinator=a:1'), '');
});

test('a wrong flag is a usage error; a report that cannot be read stops the start', async () => {
  const listen = '--listen=127.0.0.1:0';
  const wrong = await runCommand(['dashboard', listen, '--team=search']);
  assert.equal(wrong.code, 2);
  assert.match(wrong.error, /--team=search: write <team>=<pattern>/);
  const missing = '--conformance=aws=/nothing/report.json';
  const unread = await runCommand(['dashboard', listen, missing], { runtime: realRuntime() });
  assert.equal(unread.code, 1);
  assert.match(unread.error, /--conformance=aws=\/nothing\/report\.json: ENOENT/);
});
