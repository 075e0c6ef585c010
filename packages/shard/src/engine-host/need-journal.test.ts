// Proves that the changes of the verdicts, added up, are the verdicts: page by page, from any
// start, the same inline and in the worker; and that pages of one cycle stay together.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, createVirtualRuntime, type Random } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { State } from '@bigfleet/engine';
import { ClusterCapacityNeedsSchema, encodeInit, Operator } from '@bigfleet/wire';
import type { EngineHost } from './engine-host.ts';
import { emptyRollup } from '../rollup/admission.ts';
import { createInlineHost } from './inline-host.ts';
import type { NeedChanges } from './need-journal.ts';
import { encodeNeedView } from './need-view.ts';
import type { VerdictRow } from './need-verdicts.ts';
import { machineOf, RandomInputs } from './testing/random-inputs.ts';
import { createWorkerHost } from './worker-host.ts';

function inlineHost(): EngineHost {
  const { runtime } = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });
  const timers = { ...runtime.timers, turn: () => Promise.resolve() };
  return createInlineHost({ ...runtime, timers });
}

class Mirror {
  readonly rows: Map<string, string> = new Map();
  changeCount = 0;

  async pull(host: EngineHost, isFresh: boolean): Promise<void> {
    if (isFresh) this.rows.clear();
    for (let fresh = isFresh; ; fresh = false) {
      if (!this.take(await host.needChanges(fresh))) return;
    }
  }

  /** Whether there is more. */
  take({ changed, removed, hasMore }: NeedChanges): boolean {
    this.changeCount += changed.length + removed.length;
    for (const { ref, bytes } of changed) this.rows.set(JSON.stringify(ref), hex(bytes));
    for (const ref of removed) assert.ok(this.rows.delete(JSON.stringify(ref)));
    return hasMore;
  }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** One row per identity, of all: a short one before a covered one, else the first in the order of the page. */
async function verdictRows(host: EngineHost): Promise<Map<string, string>> {
  const { rows } = await host.verdicts({ cluster: '', offset: 0, limit: 10_000 });
  const shown = new Map<string, VerdictRow>();
  for (const row of rows) {
    const { cluster, profile, group } = row.verdict.need;
    const key = JSON.stringify({ cluster, fingerprint: profile.fingerprint, group });
    const before = shown.get(key);
    const isShorter = before?.verdict.satisfied === true && !row.verdict.satisfied;
    if (before === undefined || isShorter) shown.set(key, row);
  }
  return new Map([...shown].map(([key, row]) => [key, hex(encodeNeedView(row))]));
}

async function assertAddsUp(host: EngineHost, seed: bigint): Promise<void> {
  const inputs = new RandomInputs(seed);
  const mirror = new Mirror();
  for (let cycle = 1; cycle <= 60; cycle++) {
    // Quiet cycles between: what changes then changes by itself, such as an age.
    const inputCount = cycle % 4 === 0 ? 0 : 1 + (cycle % 7);
    for (let input = 0; input < inputCount; input++) await inputs.apply([host], cycle * 100);
    await host.cycle({ nowMs: cycle * 100 });
    if (cycle % 5 === 0) continue;
    await mirror.pull(host, cycle % 30 === 1);
    assert.deepEqual(mirror.rows, await verdictRows(host), `seed ${seed}, cycle ${cycle}`);
  }
  assert.ok(mirror.rows.size > 0 && mirror.changeCount > 10);
  const before = mirror.changeCount;
  await mirror.pull(host, false);
  assert.equal(mirror.changeCount, before, 'nothing changed, nothing is told');
}

test('changes add up to the verdicts (worker)', async (context) => {
  const host = createWorkerHost();
  context.after(() => host.close());
  await assertAddsUp(host, 4n);
});

for (let seed = 1n; seed <= 12n; seed++) {
  test(`changes add up to the verdicts (inline, seed ${seed})`, () =>
    assertAddsUp(inlineHost(), seed));
}

const RACKS = ['r1', 'r2', 'r3'];
const GANG_CLUSTERS = ['blue', 'green'];

/** Gangs of several sizes and ages, some of one identity, beside a plain need. */
function gangRollup(cluster: string, random: Random): Uint8Array {
  const rack = { key: 'rack', operator: Operator.SAME };
  const gangs = Array.from({ length: random.below(5) }, (_, at) => ({
    requirements: [rack],
    aggregateResources: { cpu: String(2 + 2 * random.below(8)) },
    minUnit: { cpu: '2' },
    priority: 10 * (1 + random.below(2)),
    group: random.below(3) === 0 ? '' : `gang-${at}`,
  }));
  const plain = {
    aggregateResources: { cpu: String(random.below(30)) },
    minUnit: { cpu: '1' },
    priority: 5,
  };
  return encodeInit(ClusterCapacityNeedsSchema, {
    clusterId: cluster,
    timestampUnixNanos: 1n,
    needs: [...gangs, plain],
  });
}

for (let seed = 1; seed <= 20; seed++) {
  test(`changes add up to the verdicts while gangs come, fit and wait (seed ${seed})`, async () => {
    const random = createRandom(`journal-${seed}`);
    const host = inlineHost();
    const mirror = new Mirror();
    const present = new Set<number>();
    const toggle = (at: number): void => {
      if (present.delete(at)) return host.machines.remove(`m${at}`);
      present.add(at);
      const state =
        [State.Idle, State.Configured, State.Speculative][random.below(3)] ?? State.Idle;
      const machine = machineOf(`m${at}`, state, GANG_CLUSTERS[random.below(2)]);
      const labels = new Map([['rack', RACKS[random.below(3)] ?? '']]);
      host.machines.put({ ...machine, labels }, 0);
    };
    for (let at = 0; at < 12; at++) toggle(at);
    for (let cycle = 1; cycle <= 60; cycle++) {
      const cluster = GANG_CLUSTERS[random.below(2)] ?? '';
      if (random.below(6) === 0) {
        const bytes = gangRollup(cluster, random);
        await host.applyRollup({ cluster, bytes, isGuarded: false });
      }
      if (random.below(8) === 0) toggle(random.below(12));
      await host.cycle({ nowMs: cycle * 100 });
      if (cycle === 1 || random.below(3) > 0) {
        await mirror.pull(host, cycle === 1);
        assert.deepEqual(mirror.rows, await verdictRows(host), `cycle ${cycle}`);
      }
    }
  });
}

test('a covered need of another cluster ages with the shortfall of its fingerprint', async () => {
  const host = inlineHost();
  const mirror = new Mirror();
  const demand = (cluster: string): Promise<unknown> =>
    host.applyRollup({ cluster, bytes: oneNeed(cluster), isGuarded: false });
  host.machines.put(machineOf('aa', State.Idle), 0);
  await demand('blue');
  await host.cycle({ nowMs: 1 });
  await mirror.pull(host, true);
  await demand('green');
  for (let cycle = 2; cycle <= 6; cycle++) {
    await host.cycle({ nowMs: cycle });
    await mirror.pull(host, false);
    assert.deepEqual(mirror.rows, await verdictRows(host), `cycle ${cycle}`);
  }
  const before = mirror.changeCount;
  await host.applyRollup(emptyRollup('green'));
  await host.cycle({ nowMs: 7 });
  await mirror.pull(host, false);
  assert.deepEqual(mirror.rows, await verdictRows(host));
  assert.equal(mirror.rows.size, 1);
  assert.equal(mirror.changeCount, before + 2, 'one row went, the age of the other ended');
});

function oneNeed(cluster: string): Uint8Array {
  return encodeInit(ClusterCapacityNeedsSchema, {
    clusterId: cluster,
    timestampUnixNanos: 1n,
    needs: [{ aggregateResources: { cpu: '1' }, minUnit: { cpu: '1' }, priority: 5 }],
  });
}

function manyNeeds(cluster: string, count: number, from = 0): Uint8Array {
  return encodeInit(ClusterCapacityNeedsSchema, {
    clusterId: cluster,
    timestampUnixNanos: 1n,
    needs: Array.from({ length: count }, (_, at) => ({
      requirements: [{ key: 'pool', operator: Operator.IN, values: [`pool-${from + at}`] }],
      aggregateResources: { cpu: '1' },
      minUnit: { cpu: '1' },
      priority: from + at,
    })),
  });
}

test('more rows than a page come in pages, and go in pages', async () => {
  const host = inlineHost();
  host.machines.put(machineOf('aa', State.Idle), 0);
  await host.applyRollup({ cluster: 'blue', bytes: manyNeeds('blue', 1_200), isGuarded: false });
  await host.cycle({ nowMs: 1 });
  const first = await host.needChanges(true);
  assert.deepEqual([first.changed.length, first.hasMore], [500, true]);
  const mirror = new Mirror();
  await mirror.pull(host, true);
  assert.equal(mirror.rows.size, 1_200);
  await host.applyRollup(emptyRollup('blue'));
  await host.cycle({ nowMs: 2 });
  await mirror.pull(host, false);
  assert.equal(mirror.rows.size, 0);
});

test('rows that come back while their going is told are there in the end', async () => {
  const host = inlineHost();
  const demand = (count: number, from?: number): Promise<unknown> =>
    host.applyRollup({ cluster: 'blue', bytes: manyNeeds('blue', count, from), isGuarded: false });
  host.machines.put(machineOf('aa', State.Idle), 0);
  await demand(1_200);
  await host.cycle({ nowMs: 1 });
  const mirror = new Mirror();
  await mirror.pull(host, true);
  await host.applyRollup(emptyRollup('blue'));
  await host.cycle({ nowMs: 2 });
  mirror.take(await host.needChanges(false));
  assert.equal(mirror.rows.size, 1_200 - 500, 'the first page of those that went');
  await demand(100, 600);
  await host.cycle({ nowMs: 3 });
  await mirror.pull(host, false);
  // What the cycle touched while the pages went out is of the next round.
  await mirror.pull(host, false);
  assert.deepEqual(mirror.rows, await verdictRows(host));
});

test('asking ends although a cycle runs between any two pages and every one of them changes every row', async () => {
  const host = inlineHost();
  const clusters = ['blue', 'green', 'red', 'grey'];
  for (const cluster of clusters) {
    await host.applyRollup({ cluster, bytes: manyNeeds(cluster, 600), isGuarded: false });
  }
  await host.cycle({ nowMs: 1 });
  const mirror = new Mirror();
  let nowMs = 1;
  for (const isFresh of [true, false]) {
    let pages = 1;
    let hasMore = mirror.take(await host.needChanges(isFresh));
    for (; hasMore && pages < 100; pages++) {
      await host.cycle({ nowMs: ++nowMs });
      hasMore = mirror.take(await host.needChanges(false));
    }
    assert.ok(!hasMore, `more after ${pages} pages`);
    assert.equal(mirror.rows.size, 2_400, 'every cluster had its turn');
  }
  await mirror.pull(host, false);
  assert.deepEqual(mirror.rows, await verdictRows(host));
});

test('a reader of several pages stays with the cycle it began with, for a while', async () => {
  const host = inlineHost();
  const cut = { cluster: '', limit: 10 };
  const apply = (count: number): Promise<unknown> =>
    host.applyRollup({ cluster: 'blue', bytes: manyNeeds('blue', count), isGuarded: false });
  await apply(30);
  await host.cycle({ nowMs: 1 });
  const first = await host.verdicts({ ...cut, offset: 0 });
  assert.deepEqual([first.cycle, first.total, first.rows.length], [1, 30, 10]);
  await apply(5);
  await host.cycle({ nowMs: 2 });
  assert.equal((await host.verdicts({ ...cut, offset: 0 })).total, 5);
  const second = await host.verdicts({ ...cut, offset: 10, cycle: 1 });
  assert.deepEqual([second.cycle, second.total, second.rows.length], [1, 30, 10]);
  await host.cycle({ nowMs: 3 });
  await host.verdicts({ ...cut, offset: 0 });
  const third = await host.verdicts({ ...cut, offset: 20, cycle: 1 });
  assert.equal(third.cycle, 3, 'no longer kept: the reader sees that it is another cycle');
});
