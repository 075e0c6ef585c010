// Proves the rails where they act (shard §6.2 steps 9–11, §6.4, §8): rail 1 keeps the head of each
// cluster's reclaims and never none, other kinds pass it, truncation comes after it; a pause beats a
// dry run and both skip the rails; a machine that moved on, that is busy, or that the queue has no
// room for gets no order. Each of them is told with its code.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { ActionKind, type ActionKindCode, State, type StateCode } from '@bigfleet/engine';
import type { DecidedActions } from '../engine-host/answer.ts';
import type { EngineHost } from '../engine-host/engine-host.ts';
import { createInlineHost } from '../engine-host/inline-host.ts';
import { machineOf } from '../engine-host/testing/random-inputs.ts';
import { Fleet } from '../fleet/fleet.ts';
import { type ActuationRails, type Disposition, disposeActions } from './dispose.ts';

const CLUSTERS = ['blue', 'green'];
const OPEN: ActuationRails = {
  isPaused: false,
  isDryRun: false,
  reclaimCapFraction: 0,
  maxActionsPerCycle: 0,
};

type Decided = readonly [kind: ActionKindCode, machineId: string];
const reclaims = (cluster: string, count: number): Decided[] =>
  Array.from({ length: count }, (_, at) => [ActionKind.Reclaim, `${cluster}-${at}`]);

class Stage {
  readonly fleet: Fleet;
  /** In the order of the queue. */
  readonly queued: string[] = [];
  readonly withheld: string[] = [];
  /** What was held back in the last cycle: `blue-1 deduped_state`. */
  heldBack: string[] = [];
  offeredCount = 0;
  roomInQueue: number = Number.POSITIVE_INFINITY;
  /** A provider whose queue is full. */
  fullProvider = '';
  /** Of a machine whose provider does not answer. */
  silentSlot = -1;
  readonly #time = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });
  readonly #host: EngineHost;

  /** So many Configured machines `<cluster>-<n>` of each cluster, and two Idle ones. */
  constructor(configuredCount: number) {
    const { runtime } = this.#time;
    this.#host = createInlineHost(runtime);
    const { machines: feed } = this.#host;
    this.fleet = new Fleet({ feed, clock: runtime.clock, onNodeChange: () => {} });
    for (const cluster of CLUSTERS) {
      for (let at = 0; at < configuredCount; at++) {
        this.#put(`${cluster}-${at}`, State.Configured, cluster);
      }
    }
    for (const id of ['idle-0', 'idle-1']) this.#put(id, State.Idle, '');
  }

  async dispose(
    decided: readonly Decided[],
    rails: Partial<ActuationRails> = {},
    meanwhile: () => void = () => {},
  ): Promise<Disposition> {
    const answering = this.#host.cycle({ nowMs: 0 });
    await this.#time.runFor(0);
    const answer = await answering;
    const actions = this.#actions(decided);
    meanwhile();
    const done = disposeActions(
      { ...answer, actions },
      { ...OPEN, ...rails },
      {
        fleet: this.fleet,
        configuredCount: (cluster) => this.fleet.configuredCount(cluster),
        isReachable: (slot) => slot !== this.silentSlot,
        enqueue: ({ machineId, handle }) => {
          this.offeredCount += 1;
          if (this.fleet.providerOf(handle.slot) === this.fullProvider) return false;
          if (this.queued.length >= this.roomInQueue) return false;
          this.queued.push(machineId);
          return true;
        },
        onWithheld: ({ machineId }, by) => this.withheld.push(`${by} ${machineId}`),
      },
    );
    this.heldBack = done.heldBack.runs.flatMap(({ first, count, code }) =>
      decided.slice(first, first + count).map(([, id]) => `${id} ${code}`),
    );
    return done;
  }

  /** Another machine in the row of one that is gone. */
  recycle(goneId: string, id: string): void {
    const slot = this.slotOf(goneId);
    const before = this.fleet.read(slot);
    this.fleet.apply({ changes: [{ kind: 'removed', before }], rejected: [] });
    this.#put(id, before.state, before.cluster);
    assert.equal(this.slotOf(id), slot, 'the row was not used again');
  }

  /** From now on of another provider than the rest. */
  give(id: string, provider: string): void {
    const before = this.fleet.read(this.slotOf(id));
    const machine = { ...before, provider };
    this.fleet.apply({ changes: [{ kind: 'removed', before }], rejected: [] });
    this.fleet.apply({ changes: [{ kind: 'inserted', machine, skipped: [] }], rejected: [] });
  }

  slotOf(id: string): number {
    return this.fleet.inventory.slotOf(id);
  }

  #actions(decided: readonly Decided[]): DecidedActions {
    const slots = decided.map(([, id]) => this.slotOf(id));
    const ofCluster = decided.map(([, id]) => CLUSTERS.indexOf(id.split('-')[0] ?? ''));
    const { generation } = this.fleet.inventory.columns;
    return {
      count: decided.length,
      kind: Uint8Array.from(decided, ([kind]) => kind),
      slot: Int32Array.from(slots),
      generation: Uint32Array.from(slots, (slot) => generation[slot] ?? 0),
      cluster: Int32Array.from(ofCluster),
      need: new Int32Array(decided.length).fill(-1),
      graceSeconds: new Int32Array(decided.length),
      preemptorPriority: new Int32Array(decided.length),
      clusters: CLUSTERS,
      needs: [],
    };
  }

  #put(id: string, state: StateCode, cluster: string): void {
    const machine = machineOf(id, state, cluster);
    this.fleet.apply({ changes: [{ kind: 'inserted', machine, skipped: [] }], rejected: [] });
  }
}

const caps: readonly (readonly [configured: number, fraction: number, kept: number])[] = [
  [3, 0.05, 1],
  [19, 0.05, 1],
  [20, 0.05, 1],
  [39, 0.05, 1],
  [40, 0.05, 2],
  [10, 0.5, 5],
  [10, 0, 10],
];
for (const [configured, fraction, kept] of caps) {
  test(`rail 1 at ${fraction} of ${configured}: the first ${kept} of each cluster`, async () => {
    const stage = new Stage(configured);
    const decided = [...reclaims('blue', configured), ...reclaims('green', configured)];
    const done = await stage.dispose(decided, { reclaimCapFraction: fraction });
    const head = (cluster: string): string[] => reclaims(cluster, kept).map(([, id]) => id);
    assert.deepEqual(stage.queued, [...head('blue'), ...head('green')]);
    assert.equal(done.cappedReclaimCount, 2 * (configured - kept));
    assert.equal(done.truncatedCount, 0, 'what is capped asks for no cycle');
    assert.equal(done.emitted[ActionKind.Reclaim], 2 * kept);
  });
}

test('preemptions, acquisitions and releases pass rail 1, in their places', async () => {
  const stage = new Stage(6);
  const decided: readonly Decided[] = [
    [ActionKind.Bootstrap, 'idle-0'],
    [ActionKind.Preempt, 'blue-0'],
    [ActionKind.Preempt, 'blue-1'],
    [ActionKind.Reclaim, 'blue-2'],
    [ActionKind.Reclaim, 'blue-3'],
    [ActionKind.Preempt, 'blue-4'],
    [ActionKind.Delete, 'idle-1'],
  ];
  const done = await stage.dispose(decided, { reclaimCapFraction: 0.05 });
  assert.deepEqual(stage.queued, ['idle-0', 'blue-0', 'blue-1', 'blue-2', 'blue-4', 'idle-1']);
  assert.equal(done.cappedReclaimCount, 1);
});

test('the limit of actions counts what rail 1 let through', async () => {
  const stage = new Stage(4);
  const decided: readonly Decided[] = [...reclaims('blue', 3), ...reclaims('green', 3)];
  const rails = { reclaimCapFraction: 0.05, maxActionsPerCycle: 2 };
  const done = await stage.dispose(decided, rails);
  assert.deepEqual(stage.queued, ['blue-0', 'green-0']);
  assert.deepEqual([done.cappedReclaimCount, done.truncatedCount], [4, 0]);
  const capped = ['blue-1', 'blue-2', 'green-1', 'green-2'];
  assert.deepEqual(
    stage.heldBack,
    capped.map((id) => `${id} deferred_reclaim_cap`),
  );
  const other = new Stage(4);
  const next = await other.dispose(decided, { maxActionsPerCycle: 2 });
  assert.deepEqual([next.cappedReclaimCount, next.truncatedCount], [0, 4]);
  const cut = ['blue-2', 'green-0', 'green-1', 'green-2'];
  assert.deepEqual(
    other.heldBack,
    cut.map((id) => `${id} deferred_max_actions`),
  );
});

const holds: readonly (readonly [Partial<ActuationRails>, string])[] = [
  [{ isPaused: true }, 'suppressed'],
  [{ isDryRun: true }, 'dryrun'],
  [{ isPaused: true, isDryRun: true }, 'suppressed'],
];
for (const [rails, by] of holds) {
  test(`${Object.keys(rails).join(' and ')}: all of it is ${by}, past both rails`, async () => {
    const stage = new Stage(4);
    const decided = reclaims('blue', 4);
    const limits = { reclaimCapFraction: 0.05, maxActionsPerCycle: 1 };
    const done = await stage.dispose(decided, { ...limits, ...rails });
    assert.deepEqual(
      stage.withheld,
      decided.map(([, id]) => `${by} ${id}`),
    );
    assert.deepEqual([stage.queued, done.withheldCount, done.truncatedCount], [[], 4, 0]);
    assert.deepEqual(
      stage.heldBack,
      decided.map(([, id]) => `${id} ${by}`),
    );
    assert.deepEqual(
      Object.values(done.emitted).filter((count) => count > 0),
      [],
    );
    assert.equal(stage.fleet.pendingCount, 0);
  });
}

test('one order for each machine: moved on, busy and decided twice are skipped', async () => {
  const stage = new Stage(4);
  const decided = [...reclaims('blue', 4), ...reclaims('blue', 1)];
  stage.fleet.move(stage.slotOf('blue-1'), State.Draining);
  stage.fleet.setPending(stage.slotOf('blue-2'), 'in_flight');
  const done = await stage.dispose(decided);
  assert.deepEqual(stage.queued, ['blue-0', 'blue-3']);
  assert.deepEqual([done.enqueuedCount, done.dedupedCount], [2, 3]);
  assert.deepEqual(stage.heldBack, [
    'blue-1 deduped_state',
    'blue-2 deduped_pending',
    'blue-0 deduped_pending',
  ]);
});

test('a queue without room holds no machine back from the next cycle', async () => {
  const stage = new Stage(4);
  stage.roomInQueue = 1;
  const done = await stage.dispose(reclaims('blue', 4));
  assert.deepEqual([done.enqueuedCount, done.droppedCount], [1, 3]);
  assert.equal(stage.offeredCount, 2, 'a full queue is asked once');
  const dropped = ['blue-1', 'blue-2', 'blue-3'];
  assert.deepEqual(
    stage.heldBack,
    dropped.map((id) => `${id} dropped_queue_full`),
  );
  assert.deepEqual([...stage.fleet.pendingSlots()], [stage.slotOf('blue-0')]);
  stage.roomInQueue = 4;
  await stage.dispose(reclaims('blue', 4));
  assert.deepEqual(stage.queued, ['blue-0', 'blue-1', 'blue-2', 'blue-3']);
});

test('a full queue is that of one provider: the others get their orders', async () => {
  const stage = new Stage(4);
  for (const id of ['blue-1', 'blue-2']) stage.give(id, 'other');
  stage.fullProvider = 'other';
  const done = await stage.dispose(reclaims('blue', 4));
  assert.deepEqual(stage.queued, ['blue-0', 'blue-3']);
  assert.equal(done.droppedCount, 2);
  assert.equal(stage.offeredCount, 3, 'and is asked once');
  assert.deepEqual(stage.heldBack, ['blue-1 dropped_queue_full', 'blue-2 dropped_queue_full']);
});

test('a provider that is silent gets no order, and that is no full queue', async () => {
  const stage = new Stage(3);
  stage.silentSlot = stage.slotOf('blue-1');
  const done = await stage.dispose(reclaims('blue', 3));
  assert.deepEqual(stage.queued, ['blue-0', 'blue-2']);
  assert.deepEqual([done.droppedCount, done.dedupedCount, done.unreachableCount], [0, 0, 1]);
  assert.deepEqual(stage.heldBack, ['blue-1 provider_unreachable']);
  assert.equal(stage.fleet.pendingOf(stage.silentSlot), 'none');
});

test('a row that has another machine now gets no order, although its state would fit', async () => {
  const stage = new Stage(1);
  const decided = [...reclaims('blue', 1), [ActionKind.Bootstrap, 'idle-0']] as const;
  const done = await stage.dispose(decided, {}, () => {
    stage.recycle('idle-0', 'idle-9');
    stage.recycle('blue-0', 'blue-9');
  });
  assert.deepEqual(stage.queued, []);
  assert.equal(done.dedupedCount, 2);
  assert.equal(stage.fleet.pendingOf(stage.slotOf('idle-9')), 'none');
});
