// Proves that the changes of the verdicts, added up, are the verdicts: page by page, from any
// start, the same inline and in the worker; and that pages of one cycle stay together.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { State } from '@bigfleet/engine';
import { ClusterCapacityNeedsSchema, encodeInit, Operator } from '@bigfleet/wire';
import type { EngineHost } from './engine-host.ts';
import { emptyRollup } from '../rollup/admission.ts';
import { createInlineHost } from './inline-host.ts';
import { encodeNeedView } from './need-view.ts';
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
      const page = await host.needChanges(fresh);
      this.changeCount += page.changed.length + page.removed.length;
      for (const { ref, bytes } of page.changed) this.rows.set(JSON.stringify(ref), hex(bytes));
      for (const ref of page.removed) assert.ok(this.rows.delete(JSON.stringify(ref)));
      if (!page.hasMore) return;
    }
  }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

async function verdictRows(host: EngineHost): Promise<Map<string, string>> {
  const { rows } = await host.verdicts({ cluster: '', offset: 0, limit: 10_000 });
  return new Map(
    rows.map((row) => {
      const { cluster, profile, group } = row.verdict.need;
      const ref = { cluster, fingerprint: profile.fingerprint, group };
      return [JSON.stringify(ref), hex(encodeNeedView(row))];
    }),
  );
}

for (const kind of ['inline', 'worker'] as const) {
  test(`changes add up to the verdicts (${kind})`, async (context) => {
    const host = kind === 'inline' ? inlineHost() : createWorkerHost();
    context.after(() => host.close());
    const inputs = new RandomInputs(4n);
    const mirror = new Mirror();
    for (let cycle = 1; cycle <= 30; cycle++) {
      for (let input = 0; input < 15; input++) await inputs.apply([host], cycle * 100);
      await host.cycle({ nowMs: cycle * 100 });
      if (cycle % 3 === 0) await mirror.pull(host, cycle % 9 === 0);
      if (cycle % 3 === 0) assert.deepEqual(mirror.rows, await verdictRows(host), `${cycle}`);
    }
    assert.ok(mirror.rows.size > 0 && mirror.changeCount > 10);
    const before = mirror.changeCount;
    await mirror.pull(host, false);
    assert.equal(mirror.changeCount, before, 'nothing changed, nothing is told');
  });
}

function manyNeeds(cluster: string, count: number): Uint8Array {
  return encodeInit(ClusterCapacityNeedsSchema, {
    clusterId: cluster,
    timestampUnixNanos: 1n,
    needs: Array.from({ length: count }, (_, at) => ({
      requirements: [{ key: 'pool', operator: Operator.IN, values: [`pool-${at}`] }],
      aggregateResources: { cpu: '1' },
      minUnit: { cpu: '1' },
      priority: at,
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
