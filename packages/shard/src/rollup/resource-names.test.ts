// Proves who may bring resource names: one cluster a few, all clusters half of the table, machines the
// other half; and that a refused roll-up leaves no trace, in the table, in the guard or in the gate.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { type Machine, State } from '@bigfleet/engine';
import { ClusterCapacityNeedsSchema, encodeInit, PenaltyBucket } from '@bigfleet/wire';
import type { RollupVerdict } from '../engine-host/answer.ts';
import type { EngineHost } from '../engine-host/engine-host.ts';
import { createInlineHost } from '../engine-host/inline-host.ts';
import { machineOf } from '../engine-host/testing/random-inputs.ts';

const ZERO = PenaltyBucket.PENALTY_BUCKET_ZERO;

function inlineHost(): EngineHost {
  const { runtime } = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });
  const timers = { ...runtime.timers, turn: () => Promise.resolve() };
  return createInlineHost({ ...runtime, timers });
}

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
async function submit(host: EngineHost, rollup: Rollup): Promise<string> {
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
  assert.equal(await submit(host, { names: names('a', 32) }), 'too_large', 'cpu is one of them');
  assert.equal(await submit(host, { names: names('a', 31) }), 'applied');
  assert.equal(await submit(host, { names: names('a', 31) }), 'applied', 'the same again');
  assert.equal(await submit(host, { names: names('b', 1) }), 'too_large');
  assert.equal(await submit(host, { cluster: 'green', names: names('a', 31) }), 'applied');
  assert.equal(await submit(host, { cluster: 'green', names: names('b', 32) }), 'applied');
});

test('names that a machine has cost a cluster nothing', async () => {
  const host = inlineHost();
  const known = names('m', 60);
  host.machines.put(withResources(machineOf('aa', State.Idle), [...known, 'cpu']), 0);
  assert.equal(await submit(host, { names: [...known, ...names('own', 32)] }), 'applied');
});

test('demand fills its half of the table, and machines still have theirs', async () => {
  const host = inlineHost();
  for (const cluster of ['c1', 'c2', 'c3']) {
    assert.equal(await submit(host, { cluster, names: names(cluster, 31) }), 'applied');
    assert.equal(await submit(host, { cluster: `${cluster}b`, names: ['cpu'] }), 'applied');
  }
  assert.equal(await submit(host, { cluster: 'c4', names: names('c4', 32) }), 'applied');
  const left = 128 - (1 + 3 * 31 + 32);
  assert.equal(await submit(host, { cluster: 'c5', names: names('c5', left + 1) }), 'too_large');
  assert.equal(await submit(host, { cluster: 'c5', names: names('c5', left) }), 'applied');
  assert.equal(await submit(host, { cluster: 'c6', names: ['one-more'] }), 'too_large');
  assert.equal(await submit(host, { cluster: 'c6', names: names('c1', 31) }), 'applied');
  for (let at = 0; at < 128; at += 16) {
    const own = names('machine', at + 16).slice(at);
    host.machines.put(withResources(machineOf(`m${at}`, State.Idle), own), 0);
  }
  await host.cycle({ nowMs: 1 });
  assert.equal(await submit(host, { cluster: 'c6', names: ['one-more'] }), 'too_large');
});

test('a cluster whose first roll-up is refused stays silent: nothing is reclaimed', async () => {
  const host = inlineHost();
  for (let at = 0; at < 20; at++) {
    host.machines.put(machineOf(`m${at}`, State.Configured, 'blue'), 0);
  }
  assert.equal(await submit(host, { names: names('a', 300) }), 'too_large');
  assert.equal((await host.cycle({ nowMs: 1 })).actions.count, 0);
});

test('a refused roll-up is no baseline, ends no streak and starts none', async () => {
  const host = inlineHost();
  const refused = { rows: 300, names: names('a', 300) };
  assert.equal(await submit(host, { rows: 20 }), 'applied');
  assert.equal(await submit(host, refused), 'too_large');
  assert.equal(await submit(host, { rows: 20 }), 'applied', '20 of 300 would be suspicious');
  assert.equal(await submit(host, { rows: 0 }), 'held');
  assert.equal(await submit(host, { ...refused, isGuarded: false }), 'too_large');
  assert.equal(await submit(host, { rows: 0 }), 'held');
  assert.equal(await submit(host, refused), 'too_large');
  assert.equal(await submit(host, { rows: 0 }), 'applied', 'the third in a row');
});
