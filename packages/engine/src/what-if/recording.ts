// A recording as what the world did: traces are read in order, and each input is told apart into facts of
// the world (demand, machines that appear, vanish, break or change their price, cycles) and steps of the
// recorded engine's own actions. A closed loop takes the facts and leaves the steps: it acts itself. How
// long the steps took is measured from them.
//
// A mirror follows the recorded machines. It says what a record changes, how much quota there really is,
// and what the recorded fleet cost, against which a model can be held.
//
// A damaged trace gives what it has up to the damage. Traces of one run continue each other; a later run
// (the shard was restarted) has another clock and begins with empty hands: its machines and clusters are
// those of before until it has heard of them again.

import { compareText, describeThrown } from '@bigfleet/base';
import type { TraceSource } from '../bytes/byte-source.ts';
import type { CycleOptions } from '../cycle/engine.ts';
import type { CycleMemory, Shortfall } from '../model/cycle.ts';
import type { ReleasePolicy } from '../model/capacity-type.ts';
import type { Machine, Withheld } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import { isEqual } from '../model/resources.ts';
import { isLegalTransition, State, type StateCode } from '../model/state.ts';
import { Inventory, type MoveChanges } from '../store/inventory.ts';
import { describeEnd, type TraceEntry } from '../trace/entry.ts';
import { TraceReader } from '../trace/trace-reader.ts';
import { MeteredFleet } from './metered-fleet.ts';
import type { Span } from './meter.ts';

/** How far a later run lies behind the one before: a trace does not say; one cycle is the least. */
const RESTART_GAP_MS = 10_000;
/** Machines that a restarted shard has not listed for so long are gone. */
const UNHEARD_MS = 600_000;

export interface RecordedTrace {
  /** For messages: the file's name. */
  readonly name: string;
  /** Of the process that wrote it, such as the shard's epoch: two runs have two clocks. */
  readonly run: string;
  /** Its bytes, whole or in chunks. Called twice, one trace at a time, oldest first. */
  readonly open: () => Promise<TraceSource>;
}

export type RecordedEvent =
  /** `sinceMs`: from when an Idle machine has been idle. */
  | { readonly kind: 'enter'; readonly machine: Machine; readonly sinceMs: number }
  | { readonly kind: 'leave'; readonly id: string }
  /** Another price, probability, allocatable, label or type; the state is nobody's business here. */
  | { readonly kind: 'shape'; readonly machine: Machine }
  | { readonly kind: 'withhold'; readonly id: string; readonly reason: Withheld | undefined }
  /** What no own action does: a lost host, an operation that failed, a slot that was given back. */
  | { readonly kind: 'jump'; readonly from: StateCode; readonly machine: Machine }
  /** A step of an own action. */
  | { readonly kind: 'step'; readonly machine: Machine; readonly to: StateCode }
  | { readonly kind: 'demand'; readonly cluster: string; readonly needs: readonly Need[] }
  | { readonly kind: 'rollup'; readonly cluster: string; readonly needs: readonly Need[] }
  | { readonly kind: 'reported'; readonly cluster: string }
  | { readonly kind: 'held_off'; readonly heldOff: ReadonlySet<string> }
  | { readonly kind: 'release_policy'; readonly policy: ReleasePolicy }
  | { readonly kind: 'memory'; readonly memory: CycleMemory }
  /** By provider: how many elastic machines the shard may hold; absent is unlimited. */
  | { readonly kind: 'cycle'; readonly slices: ReadonlyMap<string, number> | undefined };

/** What was read of one trace. */
export interface ReadTrace {
  readonly name: string;
  readonly run: string;
  readonly cycleCount: number;
  /** In words: `complete`, `torn in the frame at byte 812`, … */
  readonly end: string;
  /** Whether its reader came to an end that its writer knows; a running shard leaves it open. */
  readonly isWhole: boolean;
}

/** What a trace begins with, until it is whole. */
class Snapshot {
  readonly machines = new Map<string, { readonly machine: Machine; readonly sinceMs: number }>();
  readonly demand = new Map<string, readonly Need[]>();
  readonly parkingAges = new Map<string, number>();
  readonly shortfalls = new Map<string, Shortfall>();
  /** Everything else, in order. */
  readonly rest: RecordedEvent[] = [];
}

export class Recording {
  readonly mirror: MeteredFleet;
  readonly #demanding = new Set<string>();
  #run: string | undefined;
  #shiftMs = 0;
  /** Of the last entry that had a time, on the clock of the first run. */
  #atMs = 0;
  #isShiftKnown = true;
  #hasBegun = false;
  #snapshot: Snapshot | undefined;
  /** Left by a `remove`, in case its `put` follows: that is how a recorded jump is written. */
  #removed: Machine | undefined;
  #unheard = new Set<string>();
  #unheardUntilMs = 0;

  constructor(span: Span) {
    this.mirror = new MeteredFleet(new Inventory({ isIndexed: false }), span);
  }

  /** When the event that was yielded last happened. */
  get atMs(): number {
    return this.#atMs;
  }

  *read(
    { name, run }: Pick<RecordedTrace, 'name' | 'run'>,
    source: TraceSource,
  ): Generator<RecordedEvent, ReadTrace> {
    const reader = new TraceReader(source);
    this.#begin(run);
    let cycleCount = 0;
    let problem: string | undefined;
    for (const entry of reader) {
      const events: RecordedEvent[] = [];
      problem = this.#take(entry, events);
      if (problem !== undefined) break;
      for (const event of events) {
        if (event.kind === 'cycle') cycleCount += 1;
        yield event;
      }
    }
    const last: RecordedEvent[] = [];
    this.#settleRemoved(undefined, last);
    yield* last;
    const end = reader.end;
    const isWhole = problem === undefined && (end?.kind === 'closed' || end?.kind === 'open');
    const said = problem === undefined ? describeEnd(end) : `does not fit together: ${problem}`;
    return { name, run, cycleCount, end: said, isWhole };
  }

  #begin(run: string): void {
    const isRestart = this.#run !== undefined && this.#run !== run;
    this.#run = run;
    this.#snapshot = new Snapshot();
    if (!isRestart) return;
    this.#isShiftKnown = false;
    this.#unheard = new Set(this.mirror.ids());
  }

  /** What is wrong with the entry; nothing of the trace is read behind it. */
  #take(entry: TraceEntry, events: RecordedEvent[]): string | undefined {
    try {
      return this.#snapshot === undefined
        ? this.#takeInput(entry, events)
        : this.#takeSnapshot(entry, this.#snapshot, events);
    } catch (thrown) {
      // Whatever the mirror asserts is what the trace breaks: the trace is input, not our state.
      return `${entry.kind}: ${describeThrown(thrown)}`;
    }
  }

  #takeSnapshot(
    entry: TraceEntry,
    snapshot: Snapshot,
    events: RecordedEvent[],
  ): string | undefined {
    switch (entry.kind) {
      case 'put':
        snapshot.machines.set(entry.machine.id, { machine: entry.machine, sinceMs: entry.nowMs });
        return undefined;
      case 'demand':
        snapshot.demand.set(entry.cluster, entry.needs);
        return undefined;
      case 'parking':
        snapshot.parkingAges.set(entry.needKey, entry.ageCycles);
        return undefined;
      case 'shortfall':
        snapshot.shortfalls.set(entry.fingerprint, entry.shortfall);
        return undefined;
      case 'reported':
      case 'held_off':
      case 'release_policy':
        snapshot.rest.push(entry);
        return undefined;
      case 'snapshot_end':
        this.#snapshot = undefined;
        this.#settleSnapshot(snapshot, events);
        return undefined;
      default:
        return undefined;
    }
  }

  /** The first snapshot is where everything starts; a later one says what was missed, if anything. */
  #settleSnapshot(snapshot: Snapshot, events: RecordedEvent[]): void {
    // A new process that has not listed anything yet has an empty snapshot: that is no absence.
    if (this.#isShiftKnown) {
      for (const id of this.mirror.ids()) {
        if (!snapshot.machines.has(id)) this.#leave(id, events);
      }
      for (const cluster of [...this.#demanding].sort(compareText)) {
        if (!snapshot.demand.has(cluster)) this.#demand('demand', cluster, [], events);
      }
    }
    for (const { machine, sinceMs } of snapshot.machines.values()) {
      this.#settleMachine(machine, sinceMs, events);
    }
    for (const [cluster, needs] of snapshot.demand) this.#demand('demand', cluster, needs, events);
    events.push(...snapshot.rest);
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const { parkingAges, shortfalls } = snapshot;
    events.push({ kind: 'memory', memory: { parkingAges, shortfalls } });
  }

  /** Between two traces own actions may have gone on unseen: only a breakage is a fact for sure. */
  #settleMachine(machine: Machine, sinceMs: number, events: RecordedEvent[]): void {
    const before = this.mirror.find(machine.id);
    this.#unheard.delete(machine.id);
    if (before === undefined) {
      this.#enter(machine, this.#hasBegun ? this.#atMs : sinceMs, events);
      return;
    }
    this.#reshape(before, machine, events);
    const hasBroken = before.state !== State.Failed && machine.state === State.Failed;
    const isMended = before.state === State.Failed && machine.state !== State.Failed;
    if (hasBroken || isMended) events.push({ kind: 'jump', from: before.state, machine });
    this.#put(machine, this.#atMs);
  }

  #takeInput(entry: TraceEntry, events: RecordedEvent[]): string | undefined {
    this.#settleRemoved(entry, events);
    switch (entry.kind) {
      case 'put':
        this.#tick(entry.nowMs);
        this.#observe(entry.machine, events);
        return undefined;
      case 'move':
        this.#tick(entry.nowMs);
        return this.#move(entry.id, entry.to, entry.changes, events);
      case 'remove':
        this.#removed = this.mirror.find(entry.id);
        return this.#removed === undefined ? unknownMachine(entry.id) : undefined;
      case 'withhold':
        if (!this.mirror.withhold(entry.id, entry.reason)) return unknownMachine(entry.id);
        events.push({ kind: 'withhold', id: entry.id, reason: entry.reason });
        return undefined;
      case 'rollup':
        this.#demand('rollup', entry.cluster, entry.needs, events);
        return undefined;
      case 'reported':
      case 'held_off':
      case 'release_policy':
        events.push(entry);
        return undefined;
      case 'cycle':
        this.#tick(entry.options.nowMs);
        this.#forgetUnheard(events);
        events.push({ kind: 'cycle', slices: this.#slicesOf(entry.options) });
        return undefined;
      // Brakes follow from failures, which both sides see; idle stamps from entering Idle.
      default:
        return undefined;
    }
  }

  /** Time never goes back: a foreign clock at most stands still. */
  #tick(nowMs: number): void {
    if (!this.#isShiftKnown) {
      this.#isShiftKnown = true;
      this.#shiftMs = this.#atMs + RESTART_GAP_MS - nowMs;
      this.#unheardUntilMs = this.#atMs + RESTART_GAP_MS + UNHEARD_MS;
    }
    this.#atMs = Math.max(this.#atMs, nowMs + this.#shiftMs);
    this.mirror.meter.advance(this.#atMs);
  }

  #observe(machine: Machine, events: RecordedEvent[]): void {
    const before = this.mirror.find(machine.id);
    this.#unheard.delete(machine.id);
    if (before === undefined) {
      this.#enter(machine, this.#atMs, events);
      return;
    }
    this.#reshape(before, machine, events);
    this.#put(machine, this.#atMs);
    this.#stepOrJump(before, machine, events);
  }

  #move(
    id: string,
    to: StateCode,
    changes: MoveChanges,
    events: RecordedEvent[],
  ): string | undefined {
    const slot = this.mirror.inventory.slotOf(id);
    if (slot < 0) return unknownMachine(id);
    const before = this.mirror.inventory.read(slot);
    this.mirror.move(slot, to, changes, this.#atMs);
    this.#stepOrJump(before, this.mirror.inventory.read(slot), events);
    return undefined;
  }

  #stepOrJump(before: Machine, machine: Machine, events: RecordedEvent[]): void {
    const from = before.state;
    const to = machine.state;
    if (from === to) return;
    // A Configure that is rolled back failed, whatever it is called.
    const isOwn =
      isLegalTransition(from, to) &&
      to !== State.Failed &&
      !(from === State.Configuring && to === State.Idle);
    events.push(isOwn ? { kind: 'step', machine: before, to } : { kind: 'jump', from, machine });
  }

  #reshape(before: Machine, machine: Machine, events: RecordedEvent[]): void {
    if (!hasSameShape(before, machine)) events.push({ kind: 'shape', machine });
  }

  #enter(machine: Machine, sinceMs: number, events: RecordedEvent[]): void {
    this.#put(machine, sinceMs);
    events.push({ kind: 'enter', machine, sinceMs });
  }

  #put(machine: Machine, atMs: number): void {
    if (this.mirror.put(machine, atMs)) return;
    throw new Error(`${JSON.stringify(machine.id)} breaks a rule of the inventory`);
  }

  #leave(id: string, events: RecordedEvent[]): void {
    this.mirror.remove(id);
    this.#unheard.delete(id);
    events.push({ kind: 'leave', id });
  }

  /** A machine that is put back at once has jumped; one that is not has left. */
  #settleRemoved(next: TraceEntry | undefined, events: RecordedEvent[]): void {
    const removed = this.#removed;
    if (removed === undefined) return;
    this.#removed = undefined;
    const isReplaced =
      next?.kind === 'put' &&
      next.machine.id === removed.id &&
      next.machine.provider === removed.provider;
    if (!isReplaced) this.#leave(removed.id, events);
  }

  #forgetUnheard(events: RecordedEvent[]): void {
    if (this.#unheard.size === 0 || this.#atMs < this.#unheardUntilMs) return;
    for (const id of [...this.#unheard].sort(compareText)) this.#leave(id, events);
  }

  #demand(
    kind: 'demand' | 'rollup',
    cluster: string,
    needs: readonly Need[],
    events: RecordedEvent[],
  ): void {
    if (needs.length === 0) this.#demanding.delete(cluster);
    else this.#demanding.add(cluster);
    events.push({ kind, cluster, needs });
  }

  /** What is left of a slice, and what the recorded fleet held of it. A spent slice may be smaller. */
  #slicesOf({ quotaRemaining }: CycleOptions): ReadonlyMap<string, number> | undefined {
    if (quotaRemaining === undefined) return undefined;
    const { meter } = this.mirror;
    return new Map(
      [...quotaRemaining].map(([provider, left]) => [provider, left + meter.elasticHeld(provider)]),
    );
  }
}

function unknownMachine(id: string): string {
  return `an unknown machine ${JSON.stringify(id)}`;
}

/** All that a class is made of, and whose the machine is. */
function hasSameShape(a: Machine, b: Machine): boolean {
  return (
    a.pricePerHour === b.pricePerHour &&
    a.interruptionProbability === b.interruptionProbability &&
    a.instanceType === b.instanceType &&
    a.zone === b.zone &&
    a.capacityType === b.capacityType &&
    a.withheld === b.withheld &&
    isEqual(a.allocatable, b.allocatable) &&
    haveSameLabels(a.labels, b.labels)
  );
}

function haveSameLabels(a: Machine['labels'], b: Machine['labels']): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (b.get(key) !== value) return false;
  return true;
}
