// The machines of the shard as they are now: the one writer. Every write goes to the inventory,
// to the engine (in the same order, so that slots are equal on both sides) and, when a state
// changed, to whoever tells operators. The event loop is the lock: everything here is synchronous.
//
// What only this process knows about a machine lives beside it: an action is under way, a drain
// waits for its operator, we marked it Failed ourselves.

import { assert, type Clock } from '@bigfleet/base';
import {
  type ActionKindCode,
  Inventory,
  type Machine,
  type MoveChanges,
  State,
  type StateCode,
  type Withheld,
} from '@bigfleet/engine';
import type { MachineFeed } from '../engine-host/engine-host.ts';
import type { IngestBatch, IngestChange } from '../provider/reconcile/ingest.ts';
import {
  KnownMachines,
  type LocalMarks,
  type Pending,
  ResourceRoom,
} from '../provider/reconcile/known-machines.ts';
import type { LocalWrites } from '../provider/row-trust.ts';
import { cutError } from '../provider/text-limits.ts';
import { MachineCounts } from './machine-counts.ts';
import { type NodeChange, nodeChange, nodeRemoval } from './node-change.ts';
import { WriteJournal } from './write-journal.ts';

export interface FleetOptions {
  readonly feed: MachineFeed;
  readonly clock: Clock;
  readonly onNodeChange: (change: NodeChange) => void;
  /** Absent: everything that a provider lists is ours. */
  readonly gate?: FleetGate | undefined;
}

/** Names one machine; a slot alone may since have been given to another. */
export interface MachineHandle {
  readonly slot: number;
  readonly generation: number;
}

export class Fleet implements LocalMarks {
  /** Machines only: the engine keeps what the phases search in. */
  readonly inventory: Inventory = new Inventory({ isIndexed: false });
  /** As reconcile reads it. */
  readonly known: KnownMachines = new KnownMachines(this.inventory, this);
  readonly #feed: MachineFeed;
  readonly #clock: Clock;
  readonly #onNodeChange: (change: NodeChange) => void;
  readonly #gate: FleetGate | undefined;
  /** By slot; only machines that are not `none`. Bound: one entry per machine. */
  readonly #pending = new Map<number, Exclude<Pending, 'none'>>();
  readonly #failedHereMs = new Map<number, number>();
  readonly #writes = new WriteJournal();
  /** Configured machines by cluster: what rail 1 measures a reclaim against. */
  readonly #configured = new Map<string, number>();
  readonly counts: MachineCounts = new MachineCounts();

  constructor({ feed, clock, onNodeChange, gate }: FleetOptions) {
    this.#feed = feed;
    this.#clock = clock;
    this.#onNodeChange = onNodeChange;
    this.#gate = gate;
  }

  /** Whole milliseconds that never go back: what idle holds are measured with. */
  nowMs(): number {
    return Math.floor(this.#clock.monotonicMs());
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  pendingSlots(): Iterable<number> {
    return this.#pending.keys();
  }

  pendingOf(slot: number): Pending {
    return this.#pending.get(slot) ?? 'none';
  }

  failedHereAtMs(slot: number): number | undefined {
    return this.#failedHereMs.get(slot);
  }

  setPending(slot: number, pending: Pending): void {
    if (pending === 'none') this.#pending.delete(slot);
    else this.#pending.set(slot, pending);
  }

  configuredCount(cluster: string): number {
    return this.#configured.get(cluster) ?? 0;
  }

  handleOf(slot: number): MachineHandle {
    return { slot, generation: this.inventory.columns.generation[slot]! };
  }

  isSame({ slot, generation }: MachineHandle): boolean {
    const { ids, columns } = this.inventory;
    return (ids[slot] ?? '') !== '' && columns.generation[slot] === generation;
  }

  /** The configured name; empty for a slot that holds nothing. */
  providerOf(slot: number): string {
    const { columns, classes } = this.inventory;
    return classes.shape(columns.klass[slot]!)?.provider ?? '';
  }

  stateOf(slot: number): StateCode {
    return this.inventory.columns.state[slot] as StateCode;
  }

  read(slot: number): Machine {
    return this.inventory.read(slot);
  }

  /** One edge that our own action walks. */
  move(slot: number, to: StateCode, changes: MoveChanges = {}): void {
    const before = this.read(slot);
    const nowMs = this.nowMs();
    this.inventory.move(slot, to, changes, nowMs);
    this.#feed.move(before.id, to, changes, nowMs);
    if (to !== State.Failed) this.#failedHereMs.delete(slot);
    this.#writes.touch(before.provider, before.id);
    const after = this.read(slot);
    this.#recount(before, after);
    this.#onNodeChange(nodeChange(after, before));
  }

  /** Failed by our own judgement: a healthy report is believed again after a cool-down. */
  fail(slot: number, lastError: string): void {
    this.#failedHereMs.set(slot, this.nowMs());
    this.move(slot, State.Failed, { lastError: cutError(lastError) });
    this.doubt(slot);
  }

  /** What the provider holds of it is not known, and no change of it may ever be listed. */
  doubt(slot: number): void {
    const { id, provider } = this.read(slot);
    this.#writes.doubt(provider, id);
  }

  /** For reconcile: what was not its own writing since it last asked. */
  takeWrites(provider: string): LocalWrites {
    return this.#writes.take(provider);
  }

  isTouched(slot: number): boolean {
    return this.#writes.has(this.known.providerOf(slot), this.inventory.ids[slot] ?? '');
  }

  withhold(slot: number, reason: Withheld | undefined): void {
    this.inventory.withhold(slot, reason);
    this.#feed.withhold(this.inventory.ids[slot] ?? '', reason);
  }

  /** Asked last: the decision may be older than what we own now. */
  mayAct(slot: number, kind: ActionKindCode): boolean {
    return this.#gate === undefined || this.#gate.mayAct(this.read(slot), kind);
  }

  /** Not ours any more: it leaves, and its cluster is told. */
  forget(id: string): void {
    const slot = this.inventory.slotOf(id);
    assert(slot >= 0, 'an unknown machine cannot be forgotten', { id });
    const before = this.read(slot);
    this.#remove(id);
    this.#writes.touch(before.provider, id);
    this.#onNodeChange(nodeRemoval(before));
  }

  /** What a List found, screened and in order. */
  apply({ changes }: IngestBatch): void {
    for (const change of changes) {
      if (change.kind === 'inserted' && this.#gate?.mayEnter(change.machine) === false) continue;
      this.#apply(change);
      if (change.kind !== 'removed') this.#leaveUnlessOurs(change.machine);
    }
  }

  /**
   * What one answer of a provider says about one machine, as a fact. Where there is no room for its
   * resource names, those that were known stay; a machine that was not known is left to its List.
   */
  observe(reported: Machine): void {
    const slot = this.inventory.slotOf(reported.id);
    const before = slot < 0 ? undefined : this.read(slot);
    const hasRoom = new ResourceRoom(this.known).take(reported.allocatable);
    if (!hasRoom && before === undefined) return;
    const allocatable = hasRoom ? reported.allocatable : (before ?? reported).allocatable;
    const machine = { ...reported, allocatable };
    this.#put(machine);
    this.#writes.touch(machine.provider, machine.id);
    if (before?.state !== machine.state || before.cluster !== machine.cluster) {
      this.#onNodeChange(nodeChange(machine, before));
    }
    this.#leaveUnlessOurs(machine);
  }

  #apply(change: IngestChange): void {
    switch (change.kind) {
      case 'inserted':
        this.#put(change.machine);
        return this.#onNodeChange(nodeChange(change.machine, undefined));
      case 'refreshed':
        return this.#put(change.machine);
      case 'moved':
      case 'replaced':
        if (change.kind === 'replaced') this.#remove(change.before.id);
        this.#put(change.machine);
        return this.#onNodeChange(nodeChange(change.machine, change.before));
      case 'removed':
        this.#remove(change.before.id);
        return this.#onNodeChange(nodeRemoval(change.before));
    }
  }

  /** An action that is under way keeps the machine; the gate's owner looks again when it is over. */
  #leaveUnlessOurs(machine: Machine): void {
    if (this.#gate === undefined || this.#gate.mayStay(machine)) return;
    const slot = this.inventory.slotOf(machine.id);
    if (slot >= 0 && this.pendingOf(slot) === 'none') this.forget(machine.id);
  }

  #marked(machine: Machine): Machine {
    if (this.#gate === undefined) return machine;
    const withheld = this.#gate.withheldOf(machine);
    return withheld === machine.withheld ? machine : { ...machine, withheld };
  }

  #put(reported: Machine): void {
    const nowMs = this.nowMs();
    const machine = this.#marked(reported);
    const known = this.inventory.slotOf(machine.id);
    this.#recount(known < 0 ? undefined : this.read(known), machine);
    const put = this.inventory.put(machine, nowMs);
    assert(put.ok, 'a screened machine was refused', { id: machine.id });
    this.#feed.put(machine, nowMs);
    this.#failedHereMs.delete(put.value);
    // A drain that waited for its operator is over when the provider says anything else.
    if (this.pendingOf(put.value) === 'drain_wait') this.setPending(put.value, 'none');
  }

  #remove(id: string): void {
    const slot = this.inventory.slotOf(id);
    assert(slot >= 0, 'an unknown machine cannot leave', { id });
    this.setPending(slot, 'none');
    this.#failedHereMs.delete(slot);
    this.#recount(this.read(slot), undefined);
    this.inventory.remove(id);
    this.#feed.remove(id);
  }

  #recount(before: Machine | undefined, after: Machine | undefined): void {
    if (before !== undefined) this.counts.add(before, -1);
    if (after !== undefined) this.counts.add(after, 1);
    if (before?.state === State.Configured) this.#count(before.cluster, -1);
    if (after?.state === State.Configured) this.#count(after.cluster, 1);
  }

  #count(cluster: string, by: 1 | -1): void {
    const count = this.configuredCount(cluster) + by;
    if (count > 0) this.#configured.set(cluster, count);
    else this.#configured.delete(cluster);
  }
}

// Whose the machines are, as the fleet asks it: what may enter, what is withheld from decisions, what
// may be acted on. Without a gate everything that a provider lists is ours.

export interface FleetGate {
  mayEnter(machine: Machine): boolean;
  /** Whether a known machine, as it is now, stays. Not asked while an action is under way. */
  mayStay(machine: Machine): boolean;
  /** From every pool and phase of the engine; undefined: none. */
  withheldOf(machine: Machine): Withheld | undefined;
  /** Asked last, when an action is about to be queued: the decision may be older than the rule. */
  mayAct(machine: Machine, kind: ActionKindCode): boolean;
}
