// One shard as its feed tells it: machines, needs, what it says about itself, and a step of history for
// everything that changed. A snapshot is gathered beside the live rows and then told as one difference, so
// nothing is ever shown half; a new epoch is such a difference too.

import { assert, err, ok, type Result } from '@bigfleet/base';
import { isLegalTransition, isStateCode, State } from '@bigfleet/engine';
import type { CellsEvent, CycleEvent, NeedRef, Problem, Source } from '../api/index.ts';
import type {
  CycleFacts,
  MachineFacts,
  ModelEvent,
  NeedFacts,
  RecordFacts,
  ShardFacts,
  ShardFeed,
} from '../facts.ts';
import { KIND_NAMES, STATE_NAMES, type StateName } from '../words.ts';
import type { Classes } from './classes.ts';
import type { DecisionLog } from './decision-log.ts';
import type { Exposure } from './exposure.ts';
import { History, type HistoryBudget } from './history.ts';
import { type MachineWrite, MachineTable } from './machine-table.ts';
import { Minutes } from './minutes.ts';
import { dollarsOfUnits } from './money.ts';
import { needKey, NeedTable, type NeedUndo } from './need-table.ts';
import { reused } from './reused.ts';
import type { Texts } from './texts.ts';
import type { Transitions } from './transitions.ts';
import type { UndoWriter } from './undo.ts';

/** What the shards of a fleet share: tables of texts and classes, bounds, logs, and those who listen. */
export interface Shared {
  readonly nowMs: () => number;
  readonly texts: Texts;
  readonly classes: Classes;
  readonly undo: UndoWriter;
  readonly budget: HistoryBudget;
  readonly log: DecisionLog;
  readonly transitions: Transitions;
  readonly exposure: Exposure;
  /** A step has been added. */
  stepped(atMs: number): void;
  changed(): void;
  tell(event: ModelEvent): void;
}

/** What a shard says about itself beside its rows; replaced as a whole. */
export interface Head {
  readonly epoch: bigint;
  readonly cycle: number;
  /** Undefined before the first. */
  readonly lastCycleMs: number | undefined;
  readonly shortfalls: number;
  readonly status: ShardFacts | undefined;
}

interface Staged {
  readonly machines: MachineTable;
  readonly needs: Map<string, NeedFacts>;
}

/** More changed cells than this are not told one by one. */
const MAX_CELLS = 2_000;
const LAG_SAMPLES = 256;
/** Drains that were ordered and not yet seen; the oldest are forgotten. */
const MAX_ORDERED_DRAINS = 50_000;
/** A clock that runs further ahead of ours is wrong. */
const MAX_AHEAD_MS = 300_000;
/** Clusters with a line of their own. */
const MAX_SERIES = 4_096;

export class ShardMirror implements ShardFeed {
  readonly name: string;
  readonly index: number;
  address: string;
  readonly machines: MachineTable;
  readonly needs: NeedTable = new NeedTable();
  readonly history: History<Head>;
  readonly cyclesPerMinute: Minutes = new Minutes();
  readonly actionsPerMinute: Minutes = new Minutes();
  /** Units an hour by cluster. */
  readonly spending: Map<string, Minutes> = new Map();
  readonly lagMs: number[] = [];
  snapshotCount = 0;
  /** When the first whole snapshot was told; undefined before. */
  firstMs: number | undefined;
  head: Head = {
    epoch: 0n,
    cycle: 0,
    lastCycleMs: undefined,
    shortfalls: 0,
    status: undefined,
  };
  origin: Source;
  readonly #shared: Shared;
  #staged: Staged | undefined;
  #epoch = 0n;
  #cycle = 0;
  /** Deltas up to this cycle, and the first behind it, were waiting when the stream began. */
  #backlogCycle = 0;
  #statusKey = '';
  /** The status that a step holds; those between two steps are held by nobody. */
  #heldStatus: ShardFacts | undefined;
  /** Of the newest status: what it does not share with the held one. */
  #statusBytes = 0;
  #spendingMinute = -1;
  readonly #orderedDrains = new Set<string>();

  constructor(name: string, address: string, index: number, shared: Shared) {
    this.name = name;
    this.address = address;
    this.index = index;
    this.#shared = shared;
    this.machines = new MachineTable(shared.texts, shared.classes);
    this.history = new History(shared.budget);
    this.origin = {
      kind: 'shard',
      name,
      state: 'connecting',
      sinceMs: shared.nowMs(),
      dataMs: null,
      problem: '',
      flag: '--shard',
    };
  }

  /** Texts and classes of a snapshot that is still coming. */
  get staged(): MachineTable | undefined {
    return this.#staged?.machines;
  }

  begin({ epoch, cycle, isResumed }: Parameters<ShardFeed['begin']>[0]): void {
    this.#epoch = epoch;
    this.#cycle = cycle;
    this.#backlogCycle = cycle + 1;
    this.#staged = isResumed && this.firstMs !== undefined ? undefined : this.#newStage();
  }

  snapshotPart(machines: readonly MachineFacts[], needs: readonly NeedFacts[]): void {
    const staged = (this.#staged ??= this.#newStage());
    const { undo } = this.#shared;
    undo.begin();
    for (const machine of machines) {
      if (isStateCode(machine.state)) staged.machines.put(machine, undo);
    }
    for (const need of needs) staged.needs.set(needKey(need), need);
  }

  snapshotEnd(totals: Parameters<ShardFeed['snapshotEnd']>[0]): Result<void, Problem> {
    const staged = this.#staged ?? this.#newStage();
    this.#staged = undefined;
    const { size } = staged.machines;
    if (size !== totals.machines || staged.needs.size !== totals.needs) {
      const got = `${size} machines and ${staged.needs.size} needs`;
      const message = `shard ${this.name}: a snapshot of ${totals.machines} machines and ${totals.needs} needs brought ${got}`;
      return err({ code: 'snapshot_incomplete', message });
    }
    this.snapshotCount += 1;
    this.#shared.log.flush(this.name);
    this.#takeSnapshot(staged, this.#come(totals.atMs));
    return ok(undefined);
  }

  cycle(told: CycleFacts): void {
    const facts = { ...told, atMs: this.#come(told.atMs) };
    this.#shared.log.flush(this.name);
    // Deltas continue a whole picture: before the first one, and while the next one comes, there is none.
    if (this.firstMs === undefined || this.#staged !== undefined) return;
    const { undo } = this.#shared;
    undo.begin();
    const before = this.head;
    const cells = new CellCollector(this.name);
    for (const machine of facts.machinesChanged) {
      if (!isStateCode(machine.state)) continue;
      const write = this.machines.put(machine, undo);
      if (write === undefined) continue;
      this.#observe(machine.machine, write, facts.atMs);
      cells.change(machine);
    }
    for (const id of facts.machinesRemoved) {
      const write = this.machines.remove(id, undo);
      if (write === undefined) continue;
      this.#observe(id, write, facts.atMs);
      cells.remove(id);
    }
    const needs = this.#changeNeeds(facts.needsChanged, facts.needsRemoved, facts.atMs);
    this.#cycle = facts.cycle;
    const lastCycleMs = Math.max(facts.atMs, before.lastCycleMs ?? 0);
    const { cycle, shortfalls } = facts;
    this.head = { ...before, epoch: this.#epoch, cycle, lastCycleMs, shortfalls };
    this.#step(facts.atMs, before, undo.end(), needs);
    this.#count(facts);
    this.#shared.tell({ name: 'cycle', data: this.#cycleEvent(facts, cells.count) });
    if (cells.count > 0) this.#shared.tell({ name: 'cells', data: cells.event() });
  }

  record(facts: RecordFacts): void {
    const record = { ...facts, atMs: this.#come(facts.atMs) };
    if (this.#shared.log.record(this.name, record)) this.#shared.changed();
  }

  status(facts: ShardFacts): void {
    const key = statusKey(facts);
    const before = this.head;
    if (key !== this.#statusKey && before.status !== undefined) {
      // A status has no time of its own: it belongs to the newest step.
      const atMs = before.lastCycleMs ?? this.#shared.nowMs();
      this.#push(atMs, before, new Uint8Array(0), []);
      this.#shared.stepped(atMs);
    }
    // Every step holds the status of its moment, and one comes every second: they share what stayed the same.
    const { value: status, bytes } = reused(this.#heldStatus, facts);
    this.#statusBytes = bytes;
    this.head = { ...before, status };
    this.#statusKey = key;
    this.#shared.changed();
  }

  source(state: Source['state'], problem: string): void {
    const { origin } = this;
    if (origin.state === state && origin.problem === problem) return;
    const sinceMs = origin.state === state ? origin.sinceMs : this.#shared.nowMs();
    this.origin = { ...origin, state, problem, sinceMs };
    this.#shared.changed();
    this.#shared.tell({ name: 'source', data: this.sourceNow() });
  }

  sourceNow(): Source {
    return { ...this.origin, dataMs: this.head.lastCycleMs ?? null };
  }

  /** A drain was decided: the machine's end is then no interruption. */
  drainOrdered(machine: string): void {
    this.#orderedDrains.add(machine);
    if (this.#orderedDrains.size <= MAX_ORDERED_DRAINS) return;
    for (const oldest of this.#orderedDrains) {
      this.#orderedDrains.delete(oldest);
      break;
    }
  }

  /** A moment that has come: one wrong clock would otherwise be the newest of all, and age what others told. */
  #come(atMs: number): number {
    return Math.min(atMs, this.#shared.nowMs() + MAX_AHEAD_MS);
  }

  #newStage(): Staged {
    const { texts, classes } = this.#shared;
    return { machines: new MachineTable(texts, classes), needs: new Map() };
  }

  #takeSnapshot({ machines, needs }: Staged, atMs: number): void {
    const { undo } = this.#shared;
    undo.begin();
    const before = this.head;
    const isFirst = this.firstMs === undefined;
    const cells = new CellCollector(this.name);
    this.machines.retain(machines, undo, (machine, write) => {
      cells.remove(machine);
      this.#expose(write, atMs);
    });
    const { columns } = machines;
    for (let slot = 0; slot < columns.length; slot++) {
      if (columns.state[slot] === 0) continue;
      const write = this.machines.copy(columns, slot, undo);
      if (write === undefined) continue;
      cells.overflow();
      this.#expose(write, atMs);
    }
    const undone: NeedUndo[] = [];
    for (const [key, entry] of this.needs.entries) {
      if (!needs.has(key)) this.needs.remove(entry.facts, undone);
    }
    for (const need of needs.values()) this.needs.put(need, atMs, undone);
    const lastCycleMs = Math.max(atMs, before.lastCycleMs ?? 0);
    this.head = {
      ...before,
      epoch: this.#epoch,
      cycle: this.#cycle,
      lastCycleMs,
      shortfalls: this.needs.short.size,
    };
    // Before the first snapshot there was nothing to show: it is no step back.
    if (isFirst) this.firstMs = atMs;
    this.#step(atMs, before, isFirst ? new Uint8Array(0) : undo.end(), isFirst ? [] : undone);
    if (cells.count > 0) this.#shared.tell({ name: 'cells', data: cells.event() });
  }

  #changeNeeds(
    changed: readonly NeedFacts[],
    removed: readonly NeedRef[],
    atMs: number,
  ): NeedUndo[] {
    const undone: NeedUndo[] = [];
    for (const need of changed) this.needs.put(need, atMs, undone);
    for (const ref of removed) this.needs.remove(ref, undone);
    return undone;
  }

  #step(atMs: number, head: Head, rows: Uint8Array, needs: readonly NeedUndo[]): void {
    this.#push(atMs, head, rows, needs);
    this.#shared.stepped(atMs);
    this.#sampleSpending(atMs);
  }

  #push(atMs: number, head: Head, rows: Uint8Array, needs: readonly NeedUndo[]): void {
    const bytes = this.needs.undoBytes(needs) + this.#statusBytes;
    this.#statusBytes = 0;
    this.#heldStatus = head.status;
    this.history.push({ atMs, head, rows, needs }, bytes);
  }

  /** Every cluster's dollars, once a minute and whenever the minute is over. */
  #sampleSpending(atMs: number): void {
    const minute = Math.floor(atMs / 60_000);
    if (minute === this.#spendingMinute) return;
    this.#spendingMinute = minute;
    const { texts } = this.#shared;
    for (const [cluster, { units }] of this.machines.supply.clusters) {
      const name = texts.text(cluster);
      let line = this.spending.get(name);
      if (line === undefined) {
        if (this.spending.size >= MAX_SERIES) continue;
        this.spending.set(name, (line = new Minutes()));
      }
      line.set(atMs, units);
    }
  }

  #observe(machine: string, write: MachineWrite, atMs: number): void {
    const { from, to, slot, fromClass, fromSinceMs } = write;
    if (from === 0 || from === to) {
      this.#expose(write, atMs);
      return;
    }
    const { classes, texts, transitions, exposure } = this.#shared;
    const { columns } = this.machines;
    const { provider, instanceType } = classes.at(fromClass);
    const sinceMs = to === 0 ? atMs : (columns.since[slot] ?? atMs);
    transitions.push({
      atMs,
      dwellMs: sinceMs - fromSinceMs,
      from,
      to,
      provider: texts.intern(provider),
      instanceType: texts.intern(instanceType),
      error: to === State.Failed ? (columns.error[slot] ?? 0) : 0,
      shard: this.index,
    });
    const wasOrdered = this.#orderedDrains.has(machine);
    if (from === State.Configured && !wasOrdered && isLoss(from, to)) {
      exposure.interrupted(provider, write.fromRiskBin);
    }
    if (from === State.Configured || from === State.Draining) this.#orderedDrains.delete(machine);
    this.#expose(write, atMs);
  }

  #expose({ slot, from, to, fromClass, fromRiskBin }: MachineWrite, atMs: number): void {
    const wasIn = from === State.Configured;
    const isIn = to === State.Configured;
    if (wasIn === isIn) return;
    const { exposure, classes } = this.#shared;
    const { columns } = this.machines;
    if (wasIn) exposure.change(classes.at(fromClass).provider, fromRiskBin, -1, atMs);
    else {
      const { provider } = classes.at(columns.klass[slot] ?? 0);
      exposure.change(provider, columns.riskBin[slot] ?? 0, 1, atMs);
    }
  }

  #count({ cycle, atMs, actions }: CycleFacts): void {
    this.cyclesPerMinute.add(atMs, 1);
    let total = 0;
    for (const count of Object.values(actions)) total += count;
    this.actionsPerMinute.add(atMs, total);
    if (cycle <= this.#backlogCycle) return;
    this.lagMs.push(Math.max(0, this.#shared.nowMs() - atMs));
    if (this.lagMs.length > LAG_SAMPLES) this.lagMs.shift();
  }

  #cycleEvent({ cycle, atMs, shortfalls, actions }: CycleFacts, changed: number): CycleEvent {
    const told: CycleEvent['actions'] = {};
    for (const kind of KIND_NAMES) {
      const count = Object.hasOwn(actions, kind) ? actions[kind] : undefined;
      if (count !== undefined && count > 0) told[kind] = count;
    }
    return {
      shard: this.name,
      epoch: String(this.head.epoch),
      cycle,
      atMs,
      dollarsPerHour: dollarsOfUnits(this.machines.supply.totalUnits),
      shortfalls,
      actions: told,
      machinesChanged: changed,
    };
  }
}

/** Work was running, nobody asked for its end, and no edge of ours leads there. */
function isLoss(from: number, to: number): boolean {
  assert(isStateCode(from), 'a machine leaves a real state', { from });
  return to === 0 || !isStateCode(to) || !isLegalTransition(from, to);
}

/** What a step of history is worth: times that move all the time are not. */
function statusKey(facts: ShardFacts): string {
  const { epoch, isReady, isPaused, isDryRun, rails, version, providers, sessions, brakes } = facts;
  return JSON.stringify([
    String(epoch),
    [isReady, isPaused, isDryRun, version, rails],
    providers.map(({ name, isHealthy, isShared, source }) => [name, isHealthy, isShared, source]),
    sessions.map(({ cluster, isConnected, quarantinedRollups, tellsNodes, phantoms }) => [
      cluster,
      isConnected,
      quarantinedRollups,
      tellsNodes,
      phantoms,
    ]),
    brakes.map(({ subject, failures }) => [subject, failures]),
  ]);
}

export function stateNameOf(state: number): StateName {
  return STATE_NAMES[state - 1] ?? 'Failed';
}

class CellCollector {
  readonly #shard: string;
  readonly #changed: CellsEvent['changed'] = [];
  readonly #removed: string[] = [];
  count = 0;

  constructor(shard: string) {
    this.#shard = shard;
  }

  change(facts: MachineFacts): void {
    this.count += 1;
    if (this.count > MAX_CELLS) return;
    const { machine, state, cluster, dollarsPerHour, interruptionProbability, sinceMs } = facts;
    this.#changed.push({
      machine,
      state: stateNameOf(state),
      cluster,
      dollarsPerHour,
      risk: interruptionProbability,
      sinceMs,
    });
  }

  remove(machine: string): void {
    this.count += 1;
    if (this.count <= MAX_CELLS) this.#removed.push(machine);
  }

  /** A snapshot changed them: read the map again. */
  overflow(): void {
    this.count += MAX_CELLS + 1;
  }

  event(): CellsEvent {
    const isOverflow = this.count > MAX_CELLS;
    return {
      shard: this.#shard,
      changed: isOverflow ? [] : this.#changed,
      removed: isOverflow ? [] : this.#removed,
      isOverflow,
    };
  }
}
