// Proves what becomes of a roll-up where it is admitted: bytes that are no roll-up, or another
// cluster's, are refused; rail 2 holds one that drops almost everything until it was repeated, and
// measures against what was taken while it was off; one cluster brings few resource names, all
// clusters half of the table, machines the other half; and a refused roll-up leaves no trace, in the
// table, in the guard or in the gate.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { type Machine, State } from '@bigfleet/engine';
import { ClusterCapacityNeedsSchema, encodeInit, PenaltyBucket } from '@bigfleet/wire';
import type { EngineHost } from '../engine-host/engine-host.ts';
import { createInlineHost } from '../engine-host/inline-host.ts';
import { machineOf } from '../engine-host/testing/random-inputs.ts';
import type { RollupVerdict } from './admission.ts';

const ZERO = PenaltyBucket.PENALTY_BUCKET_ZERO;

function inlineHost(): EngineHost {
  const { runtime } = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });
  const timers = { ...runtime.timers, turn: () => Promise.resolve() };
  return createInlineHost({ ...runtime, timers });
}

function submit(host: EngineHost, rows: number, isGuarded = true): Promise<RollupVerdict> {
  const needs = Array.from({ length: rows }, (_, priority) => ({
    aggregateResources: { cpu: '1' },
    minUnit: { cpu: '1' },
    priority,
    interruptionPenaltyBucket: ZERO,
    reclamationPenaltyBucket: ZERO,
  }));
  const bytes = encodeInit(ClusterCapacityNeedsSchema, {
    clusterId: 'blue',
    timestampUnixNanos: 1n,
    needs,
  });
  return host.applyRollup({ cluster: 'blue', bytes, isGuarded });
}

async function kinds(host: EngineHost, rows: readonly number[]): Promise<string[]> {
  const verdicts: string[] = [];
  for (const count of rows) verdicts.push((await submit(host, count)).kind);
  return verdicts;
}

test('the third suspicious roll-up in a row is believed', async () => {
  const verdicts = await kinds(inlineHost(), [20, 0, 0, 0]);
  assert.deepEqual(verdicts, ['applied', 'held', 'held', 'applied']);
});

test('an unchanged good one in between starts the count again', async () => {
  const host = inlineHost();
  assert.deepEqual(await kinds(host, [20, 0, 0]), ['applied', 'held', 'held']);
  host.markReported('blue');
  assert.deepEqual(await kinds(host, [0, 0, 0]), ['held', 'held', 'applied']);
});

test('what was taken unguarded is the baseline later', async () => {
  const host = inlineHost();
  await submit(host, 100);
  assert.equal((await submit(host, 2, false)).kind, 'applied');
  assert.equal((await submit(host, 1)).kind, 'applied', 'two rows are below any guard');
  assert.equal((await submit(host, 50, false)).kind, 'applied');
  assert.equal((await submit(host, 1)).kind, 'held');
});

test("the roll-up of another cluster is refused, and an empty id is the session's own", async () => {
  const host = inlineHost();
  const submitAs = async (clusterId: string): Promise<string> => {
    const bytes = encodeInit(ClusterCapacityNeedsSchema, { clusterId, needs: [{ priority: 1 }] });
    const verdict = await host.applyRollup({ cluster: 'blue', bytes, isGuarded: true });
    return verdict.kind === 'rejected' ? `${verdict.code}: ${verdict.detail}` : verdict.kind;
  };
  assert.equal(await submitAs('green'), 'cluster_mismatch: clusterId: green');
  assert.equal(await submitAs('blue'), 'applied');
  assert.equal(await submitAs(''), 'applied');
});

test('bytes that are no roll-up are refused as malformed', async () => {
  const cases: readonly [string, number[]][] = [
    ['a tag without a value', [0x0a]],
    ['a length past the end', [0x0a, 0x05, 0x61]],
    ['a varint without end', [0x10, 0xff, 0xff]],
    ['a timestamp of another wire type', [0x12, 0x01, 0x00]],
    ['two timestamps', [0x10, 0x01, 0x10, 0x02]],
    ['a need of another wire type', [0x18, 0x01]],
    ['a cluster id that is no text', [0x0a, 0x01, 0xff]],
    ['field number 0', [0x00, 0x01]],
    ['a group', [0x1b, 0x1c]],
    ['a field in a map entry besides key and value', [0x1a, 0x04, 0x12, 0x02, 0x18, 0x01]],
    ['a need whose requirement runs past its end', [0x1a, 0x03, 0x0a, 0x05, 0x0a]],
  ];
  const host = inlineHost();
  for (const [name, bytes] of cases) {
    const order = { cluster: 'blue', bytes: Uint8Array.from(bytes), isGuarded: true };
    const verdict = await host.applyRollup(order);
    assert.equal(verdict.kind === 'rejected' ? verdict.code : verdict.kind, 'malformed', name);
  }
});

test('a frame of countless empty fields is too large, rows or not', async () => {
  const host = inlineHost();
  for (const tag of [0x1a, 0x22]) {
    const bytes = new Uint8Array(2 * 400_000);
    for (let at = 0; at < bytes.length; at += 2) bytes[at] = tag;
    const verdict = await host.applyRollup({ cluster: 'blue', bytes, isGuarded: true });
    assert.equal(verdict.kind === 'rejected' ? verdict.code : verdict.kind, 'too_large');
  }
});

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}-${at}`);
}

interface Rollup {
  readonly cluster?: string;
  readonly rows?: number;
  readonly names?: readonly string[];
  readonly isGuarded?: boolean;
}

/** Rows of 1 CPU each; the names are dealt out to them. */
async function submitNames(host: EngineHost, rollup: Rollup): Promise<string> {
  const { cluster = 'blue', rows = 5, isGuarded = true } = rollup;
  const needs = Array.from({ length: rows }, (_, priority) => {
    const own = (rollup.names ?? []).filter((__, at) => at % rows === priority);
    const aggregateResources = Object.fromEntries(['cpu', ...own].map((name) => [name, '1']));
    const buckets = { interruptionPenaltyBucket: ZERO, reclamationPenaltyBucket: ZERO };
    return { aggregateResources, minUnit: { cpu: '1' }, priority, ...buckets };
  });
  const bytes = encodeInit(ClusterCapacityNeedsSchema, { clusterId: cluster, needs });
  return told(await host.applyRollup({ cluster, bytes, isGuarded }));
}

function told(verdict: RollupVerdict): string {
  return verdict.kind === 'rejected' ? verdict.code : verdict.kind;
}

function withResources(machine: Machine, resources: readonly string[]): Machine {
  return { ...machine, allocatable: new Map(resources.map((name) => [name, 1])) };
}

test('a cluster brings at most 32 names of its own, in all its roll-ups together', async () => {
  const host = inlineHost();
  assert.equal(
    await submitNames(host, { names: names('a', 32) }),
    'too_large',
    'cpu is one of them',
  );
  assert.equal(await submitNames(host, { names: names('a', 31) }), 'applied');
  assert.equal(await submitNames(host, { names: names('a', 31) }), 'applied', 'the same again');
  assert.equal(await submitNames(host, { names: names('b', 1) }), 'too_large');
  assert.equal(await submitNames(host, { cluster: 'green', names: names('a', 31) }), 'applied');
  assert.equal(await submitNames(host, { cluster: 'green', names: names('b', 32) }), 'applied');
});

test('names that a machine has cost a cluster nothing', async () => {
  const host = inlineHost();
  const known = names('m', 60);
  host.machines.put(withResources(machineOf('aa', State.Idle), [...known, 'cpu']), 0);
  assert.equal(await submitNames(host, { names: [...known, ...names('own', 32)] }), 'applied');
});

test('demand fills its half of the table, and machines still have theirs', async () => {
  const host = inlineHost();
  for (const cluster of ['c1', 'c2', 'c3']) {
    assert.equal(await submitNames(host, { cluster, names: names(cluster, 31) }), 'applied');
    assert.equal(await submitNames(host, { cluster: `${cluster}b`, names: ['cpu'] }), 'applied');
  }
  assert.equal(await submitNames(host, { cluster: 'c4', names: names('c4', 32) }), 'applied');
  const left = 128 - (1 + 3 * 31 + 32);
  assert.equal(
    await submitNames(host, { cluster: 'c5', names: names('c5', left + 1) }),
    'too_large',
  );
  assert.equal(await submitNames(host, { cluster: 'c5', names: names('c5', left) }), 'applied');
  assert.equal(await submitNames(host, { cluster: 'c6', names: ['one-more'] }), 'too_large');
  assert.equal(await submitNames(host, { cluster: 'c6', names: names('c1', 31) }), 'applied');
  for (let at = 0; at < 128; at += 16) {
    const own = names('machine', at + 16).slice(at);
    host.machines.put(withResources(machineOf(`m${at}`, State.Idle), own), 0);
  }
  await host.cycle({ nowMs: 1 });
  assert.equal(await submitNames(host, { cluster: 'c6', names: ['one-more'] }), 'too_large');
});

test('a cluster whose first roll-up is refused stays silent: nothing is reclaimed', async () => {
  const host = inlineHost();
  for (let at = 0; at < 20; at++) {
    host.machines.put(machineOf(`m${at}`, State.Configured, 'blue'), 0);
  }
  assert.equal(await submitNames(host, { names: names('a', 300) }), 'too_large');
  assert.equal((await host.cycle({ nowMs: 1 })).actions.count, 0);
});

test('a refused roll-up is no baseline, ends no streak and starts none', async () => {
  const host = inlineHost();
  const refused = { rows: 300, names: names('a', 300) };
  assert.equal(await submitNames(host, { rows: 20 }), 'applied');
  assert.equal(await submitNames(host, refused), 'too_large');
  assert.equal(await submitNames(host, { rows: 20 }), 'applied', '20 of 300 would be suspicious');
  assert.equal(await submitNames(host, { rows: 0 }), 'held');
  assert.equal(await submitNames(host, { ...refused, isGuarded: false }), 'too_large');
  assert.equal(await submitNames(host, { rows: 0 }), 'held');
  assert.equal(await submitNames(host, refused), 'too_large');
  assert.equal(await submitNames(host, { rows: 0 }), 'applied', 'the third in a row');
});
