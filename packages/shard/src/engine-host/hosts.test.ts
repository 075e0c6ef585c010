// Proves that the engine in a worker thread decides exactly what the inline one does, whatever
// reaches it; that roll-ups are judged alike; and that a lost thread rejects instead of hanging.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError, createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { ActionKind, State } from '@bigfleet/engine';
import { createRegistry, defineThreadMetrics } from '@bigfleet/telemetry';
import type { CycleAnswer } from './answer.ts';
import type { EngineHost } from './engine-host.ts';
import { emptyRollup } from '../rollup/admission.ts';
import { createInlineHost } from './inline-host.ts';
import { machineOf, RandomInputs, rollupOf } from './testing/random-inputs.ts';
import { createWorkerHost } from './worker-host.ts';

/** Answers in the next microtask: what virtual time would do, without driving it. */
function inlineHost(): EngineHost {
  const { runtime } = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });
  return createInlineHost({
    ...runtime,
    timers: { ...runtime.timers, turn: () => Promise.resolve() },
  });
}

/** Everything but the time it took. */
function comparable({ tookMs: _, ...answer }: CycleAnswer): Omit<CycleAnswer, 'tookMs'> {
  return answer;
}

const SEEDS = [1n, 2n, 3n];
const CYCLES = 40;
const INPUTS_PER_CYCLE = 25;

for (const seed of SEEDS) {
  test(`inline and worker decide the same (seed ${seed})`, async (context) => {
    const hosts = [inlineHost(), createWorkerHost()] as const;
    context.after(() => hosts[1].close());
    const inputs = new RandomInputs(seed);
    let actionCount = 0;
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      for (let input = 0; input < INPUTS_PER_CYCLE; input++) await inputs.apply(hosts, cycle * 100);
      const answers = await Promise.all(hosts.map((host) => host.cycle({ nowMs: cycle * 100 })));
      const [inline, worker] = answers.map(comparable);
      assert.deepEqual(worker, inline, `cycle ${cycle}`);
      actionCount += inline?.actions.count ?? 0;
      const query = { cluster: cycle % 2 === 0 ? '' : 'blue', offset: 0, limit: 100 };
      const pages = await Promise.all(hosts.map((host) => host.verdicts(query)));
      assert.deepEqual(pages[1], pages[0], `verdicts of cycle ${cycle}`);
      assert.equal(pages[0]?.cycle, cycle + 1);
    }
    assert.ok(actionCount > 100, `only ${actionCount} actions: the inputs exercise too little`);
  });
}

test('an answer names machines, clusters and needs', async () => {
  const host = inlineHost();
  host.machines.put(machineOf('aa', State.Idle), 0);
  host.machines.put(machineOf('bb', State.Speculative), 0);
  const verdict = await host.applyRollup({
    cluster: 'blue',
    bytes: rollupOf('blue', 8),
    isGuarded: true,
  });
  assert.ok(verdict.kind === 'applied');
  const { demand, ...rest } = verdict;
  assert.deepEqual(rest, { kind: 'applied', rows: 1, previousRows: 0, confirmedAfter: 0 });
  assert.deepEqual([...(demand?.profiles ?? [])], [0]);
  assert.deepEqual(
    demand?.defined.map(({ number, requirements }) => [number, requirements[0]?.key]),
    [[0, 'pool']],
  );
  const { actions, record, rowCount } = await host.cycle({ nowMs: 1 });
  assert.equal(rowCount, 1);
  assert.deepEqual([...actions.kind], [ActionKind.Bootstrap, ActionKind.Provision]);
  assert.deepEqual([...actions.slot], [0, 1]);
  assert.deepEqual(actions.clusters, ['blue']);
  assert.deepEqual([...actions.need], [0, 0]);
  assert.equal(actions.needs[0]?.requirements[0]?.key, 'pool');
  assert.ok(record.length > 0);
});

test('a bad roll-up is refused with its place, and the demand of before stays', async () => {
  const host = inlineHost();
  host.machines.put(machineOf('aa', State.Idle), 0);
  const apply = (bytes: Uint8Array): ReturnType<EngineHost['applyRollup']> =>
    host.applyRollup({ cluster: 'blue', bytes, isGuarded: true });
  await apply(rollupOf('blue', 4));
  const garbage = await apply(Uint8Array.of(0xff, 0xff, 0xff));
  assert.equal(garbage.kind, 'rejected');
  const foreign = await apply(rollupOf('green', 4));
  assert.deepEqual(foreign.kind === 'rejected' ? foreign.code : '', 'cluster_mismatch');
  const { actions } = await host.cycle({ nowMs: 1 });
  assert.equal(actions.count, 1);
});

test('a forgotten cluster is empty demand, at once', async () => {
  const host = inlineHost();
  host.machines.put(machineOf('aa', State.Configured, 'blue'), 0);
  await host.applyRollup({ cluster: 'blue', bytes: rollupOf('blue', 4), isGuarded: true });
  assert.equal((await host.cycle({ nowMs: 1 })).actions.count, 0);
  await host.applyRollup(emptyRollup('blue'));
  const { actions } = await host.cycle({ nowMs: 2 });
  assert.deepEqual([...actions.kind], [ActionKind.Reclaim]);
});

test('each answer of the worker brings what its thread measured of itself', async (context) => {
  const shipped: Float64Array[] = [];
  const host = createWorkerHost({}, (deltas) => shipped.push(deltas));
  context.after(() => host.close());
  const registry = createRegistry();
  const target = defineThreadMetrics(registry, ['engine']).deltaTarget('engine');
  for (let cycle = 1; cycle <= 2; cycle++) await host.cycle({ nowMs: cycle });
  assert.equal(shipped.length, 2);
  for (const deltas of shipped) target.applyDeltas(deltas);
  let text = '';
  for (const family of registry.snapshot().families) {
    for await (const slice of family.format()) text += slice;
  }
  const used = /nodejs_heap_size_used_bytes\{thread="engine"\} (\d+)/.exec(text)?.[1];
  assert.ok(Number(used) > 1e6, `heap in use: ${used}`);
});

test('the worker is ready when its thread answers', async (context) => {
  const host = createWorkerHost();
  context.after(() => host.close());
  await host.ready();
  assert.equal((await host.cycle({ nowMs: 1 })).actions.count, 0);
});

test('when the thread is lost, open and later questions are rejected', async () => {
  const host = createWorkerHost();
  // The fleet never sends a machine that it does not have: the engine stops rather than guess.
  host.machines.remove('nobody');
  const isLost = (error: unknown): boolean =>
    error instanceof BigFleetError && error.code === 'engine_lost';
  await assert.rejects(host.cycle({ nowMs: 1 }), isLost);
  await assert.rejects(host.cycle({ nowMs: 2 }), isLost);
  await assert.rejects(host.ready(), isLost);
  await host.close();
});
