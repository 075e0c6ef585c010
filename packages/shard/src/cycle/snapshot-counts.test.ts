// Proves that rail 1 is measured against the fleet that was decided about: whatever happens between
// the question and the answer, the counts are those of the question, for any history.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { State, type StateCode } from '@bigfleet/engine';
import fc from 'fast-check';
import { createInlineHost } from '../engine-host/inline-host.ts';
import { machineOf } from '../engine-host/testing/random-inputs.ts';
import { Fleet } from '../fleet/fleet.ts';
import { SnapshotCounts } from './snapshot-counts.ts';

const CLUSTERS = ['blue', 'green'];
const IDS = ['a', 'b', 'c', 'd', 'e'];

interface Counted {
  readonly fleet: Fleet;
  readonly counts: SnapshotCounts;
  observe(id: string, state: StateCode, cluster: string): void;
  all(): number[];
  live(): number[];
}

function counted(): Counted {
  const { runtime } = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });
  const { machines: feed } = createInlineHost(runtime);
  const counts: SnapshotCounts = new SnapshotCounts((cluster) => fleet.configuredCount(cluster));
  const fleet: Fleet = new Fleet({
    feed,
    clock: runtime.clock,
    onNodeChange: (change) => counts.changed(change),
  });
  return {
    fleet,
    counts,
    observe: (id, state, cluster) => fleet.observe(machineOf(id, state, cluster)),
    all: () => CLUSTERS.map((cluster) => counts.countOf(cluster)),
    live: () => CLUSTERS.map((cluster) => fleet.configuredCount(cluster)),
  };
}

test('what is configured after the question raises no cap', () => {
  const stage = counted();
  for (const id of ['a', 'b']) stage.observe(id, State.Configured, 'blue');
  stage.counts.take();
  for (const id of ['c', 'd', 'e']) stage.observe(id, State.Configured, 'blue');
  assert.deepEqual(
    [stage.live(), stage.all()],
    [
      [5, 0],
      [2, 0],
    ],
  );
  stage.counts.take();
  assert.deepEqual(stage.all(), [5, 0]);
});

test('for any history the counts are those of the question', () => {
  const step = fc.record({
    id: fc.constantFrom(...IDS),
    to: fc.constantFrom('blue', 'green', 'idle', 'gone'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.array(step, { maxLength: 30 }), (a, b) => {
      const stage = counted();
      for (const one of a) walk(stage, one);
      stage.counts.take();
      const asked = stage.live();
      for (const one of b) walk(stage, one);
      assert.deepEqual(stage.all(), asked);
    }),
  );
});

function walk({ fleet, observe }: Counted, { id, to }: { id: string; to: string }): void {
  const isKnown = fleet.inventory.slotOf(id) >= 0;
  if (to === 'gone') return isKnown ? fleet.forget(id) : undefined;
  observe(id, to === 'idle' ? State.Idle : State.Configured, to === 'idle' ? '' : to);
}
