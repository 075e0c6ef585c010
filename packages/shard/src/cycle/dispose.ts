// From decided actions to queued ones (shard §6.2 steps 9–11, §6.4). The order is normative: rail
// 1, then truncation, then for each action the live state, then whether something is under way for
// the machine, then the queue, which is never waited for. Whatever falls out is derived again.
//
// Works on columns by index: a cycle may decide half a million actions, and only as many become
// objects as the pool has room for.

import { type ActionReason, assert } from '@bigfleet/base';
import {
  ActionKind,
  type ActionKindCode,
  encodeDispositions,
  type Rails,
  RailWalk,
  type RefusedRollups,
  startStateOf,
} from '@bigfleet/engine';
import type { CycleAnswer, DecidedActions } from '../engine-host/answer.ts';
import type { ActionOrder } from '../execute/execution.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { DispositionLog } from './disposition-log.ts';

export interface ActuationRails extends Rails {
  readonly isPaused: boolean;
  readonly isDryRun: boolean;
}

export interface DisposePorts {
  readonly fleet: Fleet;
  /** Configured machines of a cluster when the engine was asked. */
  readonly configuredCount: (cluster: string) => number;
  /** Whether the provider of this machine answers at all. */
  readonly isReachable: (slot: number) => boolean;
  /** False when the queue of its provider is full, which is then not asked again in this cycle. */
  readonly enqueue: (order: ActionOrder) => boolean;
  /** Told about every action that a pause or a dry run kept back. */
  readonly onWithheld: (order: ActionOrder, by: 'suppressed' | 'dryrun') => void;
}

export interface Disposition {
  /** By kind: what passed the rails, whatever became of it afterwards. */
  readonly emitted: Readonly<Record<ActionKindCode, number>>;
  readonly enqueuedCount: number;
  readonly withheldCount: number;
  /** Already done, under way, or about a machine that is gone or not ours to act on any more. */
  readonly dedupedCount: number;
  /** The queue was full. */
  readonly droppedCount: number;
  /** Its provider is silent; that has series of its own, and is no full queue. */
  readonly unreachableCount: number;
  readonly cappedReclaimCount: number;
  /** Cut by the limit of actions per cycle: the one case that asks for a cycle at once. */
  readonly truncatedCount: number;
  /** Which actions these are, for the record. */
  readonly heldBack: DispositionLog;
}

const reasons: Readonly<Record<ActionKindCode, ActionReason>> = {
  [ActionKind.Bootstrap]: 'phase1.idle',
  [ActionKind.Provision]: 'phase1.speculative',
  [ActionKind.Reclaim]: 'phase3.excess',
  [ActionKind.Preempt]: 'phase2.inversion',
  [ActionKind.Delete]: 'phase3.release',
};

export function disposeActions(
  { actions, cycle }: CycleAnswer,
  rails: ActuationRails,
  ports: DisposePorts,
): Disposition {
  const isWithheld = rails.isPaused || rails.isDryRun;
  const walk = isWithheld
    ? undefined
    : new RailWalk(actions.clusters, ports.configuredCount, rails);
  const tally = newTally();
  for (let at = 0; at < actions.count; at++) {
    const deferral = walk?.judge(actions.kind[at] as ActionKindCode, actions.cluster[at]!);
    if (deferral === undefined) {
      disposeOne(actions, at, cycle, isWithheld, rails, ports, tally);
      continue;
    }
    if (deferral === 'deferred_reclaim_cap') tally.cappedReclaimCount++;
    else tally.truncatedCount++;
    tally.heldBack.note(at, deferral);
  }
  tally.heldBack.end();
  return tally;
}

type Tally = { -readonly [K in keyof Disposition]: Disposition[K] } & {
  emitted: Record<ActionKindCode, number>;
  /** Providers without room. */
  readonly full: Set<string>;
};

function newTally(): Tally {
  return {
    emitted: { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 },
    enqueuedCount: 0,
    withheldCount: 0,
    dedupedCount: 0,
    droppedCount: 0,
    unreachableCount: 0,
    cappedReclaimCount: 0,
    truncatedCount: 0,
    heldBack: new DispositionLog(),
    full: new Set(),
  };
}

/** Nothing leaves a queue while this walk runs: a provider that refused once refuses to its end. */
function isFull({ full }: Tally, fleet: Fleet, slot: number): boolean {
  return full.size > 0 && full.has(fleet.providerOf(slot));
}

function disposeOne(
  actions: DecidedActions,
  at: number,
  cycle: number,
  isWithheld: boolean,
  rails: ActuationRails,
  { fleet, isReachable, enqueue, onWithheld }: DisposePorts,
  tally: Tally,
): void {
  const kind = actions.kind[at] as ActionKindCode;
  if (isWithheld) {
    const by = rails.isPaused ? 'suppressed' : 'dryrun';
    tally.withheldCount++;
    tally.heldBack.note(at, by);
    const order = orderAt(actions, at, cycle, fleet);
    if (order !== undefined) onWithheld(order, by);
    return;
  }
  tally.emitted[kind]++;
  const slot = actions.slot[at]!;
  const generation = actions.generation[at]!;
  const duplicate = duplicateCode(fleet, slot, generation, kind);
  if (duplicate !== undefined) {
    tally.dedupedCount++;
    tally.heldBack.note(at, duplicate);
    return;
  }
  if (!isReachable(slot)) {
    tally.unreachableCount++;
    tally.heldBack.note(at, 'provider_unreachable');
    return;
  }
  if (!isFull(tally, fleet, slot)) {
    if (offer(actions, at, cycle, fleet, enqueue)) {
      tally.enqueuedCount++;
      return;
    }
    tally.full.add(fleet.providerOf(slot));
  }
  tally.droppedCount++;
  tally.heldBack.note(at, 'dropped_queue_full');
}

function offer(
  actions: DecidedActions,
  at: number,
  cycle: number,
  fleet: Fleet,
  enqueue: DisposePorts['enqueue'],
): boolean {
  const order = orderAt(actions, at, cycle, fleet);
  assert(order !== undefined, 'a live machine has an order');
  const { slot } = order.handle;
  fleet.setPending(slot, 'in_flight');
  const isTaken = enqueue(order);
  if (!isTaken) fleet.setPending(slot, 'none');
  return isTaken;
}

/** Undefined when the action may go on. A machine that is not ours any more has moved on too. */
function duplicateCode(
  fleet: Fleet,
  slot: number,
  generation: number,
  kind: ActionKindCode,
): 'deduped_state' | 'deduped_pending' | undefined {
  const isLive = fleet.isSame({ slot, generation }) && fleet.stateOf(slot) === startStateOf(kind);
  if (!isLive) return 'deduped_state';
  if (fleet.pendingOf(slot) !== 'none') return 'deduped_pending';
  return fleet.mayAct(slot, kind) ? undefined : 'deduped_state';
}

/** Undefined when the machine is gone. */
function orderAt(
  actions: DecidedActions,
  at: number,
  cycle: number,
  fleet: Fleet,
): ActionOrder | undefined {
  const kind = actions.kind[at] as ActionKindCode;
  const slot = actions.slot[at]!;
  const handle = { slot, generation: actions.generation[at]! };
  if (!fleet.isSame(handle)) return undefined;
  const cluster = actions.cluster[at]!;
  return {
    kind,
    handle,
    machineId: fleet.inventory.ids[slot] as string,
    cluster: cluster < 0 ? '' : (actions.clusters[cluster] as string),
    need: actions.needs[actions.need[at]!],
    graceSeconds: actions.graceSeconds[at]!,
    preemptorPriority: actions.preemptorPriority[at]!,
    reason: reasons[kind],
    cycle,
  };
}

// What the decision record of a cycle does not say, because it was decided before: which of its
// actions were held back and why, and which roll-ups were refused or held since the last one. As
// bytes, because they go to the disk and to readers as they are; none when there is nothing to say.

const NOTHING = new Uint8Array(0);
const NONE: RefusedRollups = { rollups: [], unnamedRollupCount: 0 };

export interface DisposedCycle {
  readonly answer: CycleAnswer;
  readonly disposition: Disposition;
  readonly rails: ActuationRails;
  /** Undefined: no roll-up can be refused. */
  readonly refused: RefusedRollups | undefined;
}

/** Empty when there is nothing to say, or no record that it could stand beside. */
export function dispositionsOfCycle(disposed: DisposedCycle): Uint8Array {
  const { answer, disposition, rails, refused = NONE } = disposed;
  const { counts, runs } = disposition.heldBack;
  const isSilent = runs.length === 0 && refused.rollups.length === 0;
  if (isSilent || answer.record.length === 0) return NOTHING;
  return encodeDispositions({
    cycle: answer.cycle,
    reclaimCapFraction: Math.max(0, rails.reclaimCapFraction),
    maxActionsPerCycle: Math.max(0, rails.maxActionsPerCycle),
    actionCount: answer.actions.count,
    counts,
    runs,
    ...refused,
  });
}
