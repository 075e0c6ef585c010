// Proves the flags of `bigfleet coordinator`: their defaults are the documented ones, the store is
// chosen as documented, and every combination that the documents forbid is refused by name.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Result } from '@bigfleet/base';
import type { CoordinatorSettings } from '@bigfleet/coordinator';
import { parseFlags } from '@bigfleet/process/flags';
import { coordinatorWarnings } from './command.ts';
import { coordinatorFlags } from './flags.ts';
import { coordinatorSettings } from './settings.ts';

function settingsOf(argv: readonly string[]): Result<CoordinatorSettings, string> {
  const parsed = parseFlags(coordinatorFlags, argv);
  return parsed.ok ? coordinatorSettings(parsed.value, {}) : parsed;
}

function good(argv: readonly string[]): CoordinatorSettings {
  const settings = settingsOf(argv);
  assert.ok(settings.ok, settings.ok ? '' : settings.error);
  return settings.value;
}

test('without a flag: SQLite, the documented ports and dials, no export', () => {
  const settings = good([]);
  assert.deepEqual(settings.store, { kind: 'sqlite' });
  assert.equal(settings.nodeId, 'node-1');
  assert.equal(settings.listen, ':7790');
  assert.equal(settings.advertiseAddress, '127.0.0.1:7790');
  assert.equal(settings.dataDir, './coord-data');
  assert.equal(settings.mayBootstrap, false);
  assert.equal(settings.snapshots, undefined);
  assert.deepEqual(settings.rebalance, {
    intervalMs: 50_000,
    ageCycles: 5,
    preemptAgeCycles: 12,
    cooldownCycles: 8,
    donorMargin: 0.1,
    minBenefit: 0.1,
    maxMachines: 50,
    maxMoves: 10,
    maxOverrides: 10_000,
    isDryRun: false,
  });
});

test('auto is etcd as soon as one is named, managed or external', () => {
  const external = good(['--etcd-endpoints=https://a:2379,https://b:2379']).store;
  assert.equal(external.kind, 'external-etcd');
  assert.ok(external.kind === 'external-etcd');
  assert.deepEqual(external.endpoints, ['https://a:2379', 'https://b:2379']);
  assert.equal(external.leaseTtlMs, 5_000);
  const managed = good(['--id=coordinator-2', '--join-addr=coordinator:7790']).store;
  assert.ok(managed.kind === 'managed-etcd');
  assert.equal(managed.ordinal, 2);
  assert.equal(managed.peerAdvertise, '127.0.0.1:7791');
});

test('an export directory gets the documented rhythm', () => {
  assert.deepEqual(good(['--snapshot-export-dir=/exports']).snapshots, {
    directory: '/exports',
    intervalMs: 300_000,
    retain: 288,
  });
});

const JOINS = ['--join-addr=c:7790', '--id=c-0'];

const REFUSED: readonly (readonly [readonly string[], RegExp])[] = [
  [['--listen='], /--listen is empty/],
  [['--data-dir='], /--data-dir is empty/],
  [['--id=a b'], /--id=a b/],
  [['--join-addr=c:7790', '--id=coordinator'], /ends in -<ordinal>/],
  [['--join-addr=c:7790', '--id=c-0', '--etcd-endpoints=http://e:2379'], /give one of them/],
  [['--store=sqlite', '--etcd-endpoints=http://e:2379'], /single-replica/],
  [['--store=etcd'], /--store=etcd needs/],
  [['--store=raft'], /one of auto, sqlite, etcd/],
  [['--leader-lease-ttl=1s'], /at least 3s/],
  [['--rebalance-cooldown-cycles=7'], /at least 8/],
  [['--rebalance-preempt-age=3'], /last resort/],
  [['--rebalance-max-machines=51'], /from 0 to 50/],
  [['--etcd-prefix=/bigfleet'], /ends in \//],
  [['--etcd-endpoints=http://e:1', '--etcd-tls-cert=c'], /go together/],
  [['--etcd-endpoints=http://e:1', '--etcd-username=u'], /go together/],
  [['--metrics-addr=nonsense'], /--metrics-addr/],
  [['--etcd-endpoints=http://e:1', '--require-tls'], /http:\/\/e:1 is plaintext/],
  [['--etcd-endpoints=e:1', '--tls-cert=c', '--tls-key=k', '--tls-ca=a'], /e:1 is plaintext/],
  [[...JOINS, '--etcd-client-addr=0.0.0.0:2379'], /--etcd-client-addr=0\.0\.0\.0:2379: .*loopback/],
  [[...JOINS, '--etcd-client-addr=:2379'], /loopback/],
  [[...JOINS, '--etcd-client-addr=10.0.0.4:2379'], /loopback/],
  [[...JOINS, '--listen=0.0.0.0:7790'], /give --advertise-addr/],
  [['--etcd-endpoints=http://e:1', '--advertise-addr=[::]:7790'], /give --advertise-addr/],
];

test('what cannot work is refused with the flag that is to blame', () => {
  for (const [argv, text] of REFUSED) {
    const settings = settingsOf(argv);
    assert.ok(!settings.ok, argv.join(' '));
    assert.match(settings.error, text);
  }
});

const NAMED = ['--advertise-addr=c-0.coordinators:7790', '--raft-advertise=c-0.coordinators:7791'];

const WARNED: readonly (readonly [readonly string[], readonly RegExp[]])[] = [
  [[], []],
  [JOINS, [/named as 127\.0\.0\.1:7790.*--advertise-addr/, /peers are told .*--raft-advertise/]],
  [[...JOINS, ...NAMED], []],
  [[...JOINS, '--listen=127.0.0.1:7790', '--raft-bind=[::1]:7791'], []],
  [['--etcd-endpoints=https://e:2379', ...NAMED], []],
  [['--etcd-endpoints=unix:/run/etcd.sock', ...NAMED], []],
  [
    ['--etcd-endpoints=http://e:2379', ...NAMED],
    [/http:\/\/e:2379 is used without TLS and without a user/],
  ],
  [
    ['--etcd-endpoints=e:2379', '--etcd-username=u', '--etcd-password-file=f', ...NAMED],
    [/e:2379 is used without TLS: whoever/],
  ],
];

test('what is odd but may be meant is said aloud', () => {
  for (const [argv, texts] of WARNED) {
    const warnings = coordinatorWarnings(good(argv));
    assert.equal(warnings.length, texts.length, `${argv.join(' ')}: ${warnings.join('; ')}`);
    for (const [at, text] of texts.entries()) assert.match(warnings[at] ?? '', text);
  }
});
