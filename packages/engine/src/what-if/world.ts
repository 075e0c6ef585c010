// One side of a what-if: the production engine over machines that follow its own actions. Facts of the
// recording come in as events; what the recorded engine did about them does not. Operations take as long
// as the recording says that they take, and are stamped as the shard's executors stamp them.
//
// Refuses nothing: an event that does not fit the machine as it is on this side (it never failed here, it
// was never bought here) is passed over and counted.

import { compareText } from '@bigfleet/base';
import { type Action, ActionKind, type ActionKindCode, actionKindName } from '../model/action.ts';
import { type Rails, RailWalk } from '../actions/rails.ts';
import { ConfigureBrake } from '../brake/configure-brake.ts';
import { Engine } from '../cycle/engine.ts';
import { readActions, restoreMemory } from '../cycle/plain.ts';
import { CapacityType, capacityTypeName, DEFAULT_RELEASE_POLICY } from '../model/capacity-type.ts';
import { type Assignment, isHost, type Machine, noAssignment } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import { isBound, isStable, State, type StateCode, stateName } from '../model/state.ts';
import type { Row } from '../needs/row.ts';
import type { SideAnswer, Transition, TransitionDwell } from './answer.ts';
import type { Assumptions } from './assumptions.ts';
import { MeteredFleet } from './metered-fleet.ts';
import type { Span } from './meter.ts';
import type { RecordedEvent } from './recording.ts';
import { dwellKey, transitionOf } from './survey.ts';
import { Unmet } from './unmet.ts';

const KINDS: readonly ActionKindCode[] = [1, 2, 3, 4, 5];

export interface WorldOptions {
  readonly span: Span;
  readonly assumptions: Assumptions;
  readonly dwells: readonly TransitionDwell[];
  readonly rails: Rails;
}

interface Operation {
  readonly id: string;
  readonly dueMs: number;
  /** Stamped when a Configure ends. */
  readonly assigned: Assignment | undefined;
}

export class World {
  readonly engine: Engine = new Engine({ hasRecords: false });
  readonly fleet: MeteredFleet;
  readonly unmet: Unmet;
  readonly #options: WorldOptions;
  readonly #dwellMs: ReadonlyMap<string, number>;
  readonly #brake = new ConfigureBrake();
  readonly #operations = new Map<string, Operation>();
  /** No operation is due before it. */
  #nextDueMs = Number.POSITIVE_INFINITY;
  /** Roll-ups of copied clusters that are still to come, by cycle. */
  readonly #later = new Map<
    number,
    { readonly cluster: string; readonly needs: readonly Need[] }[]
  >();
  readonly #lostZones = new Set<string>();
  /** Where a machine that is bound no more was bound last. */
  readonly #lastCluster = new Map<string, string>();
  readonly #actionCounts: Record<ActionKindCode, number> = { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 };
  #deferredCount = 0;
  #clusterChangeCount = 0;
  #removedCount = 0;
  #skippedCount = 0;
  #cycle = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.fleet = new MeteredFleet(this.engine.inventory, options.span);
    this.unmet = new Unmet(options.span.pointCount);
    this.#dwellMs = new Map(
      options.dwells.map(({ provider, transition, ms }) => [dwellKey(provider, transition), ms]),
    );
    // A trace names the policy only where it differs from the default.
    this.engine.releasePolicy = options.assumptions.policy(DEFAULT_RELEASE_POLICY);
  }

  /** Recorded failures and jumps that did not fit here. */
  get skippedCount(): number {
    return this.#skippedCount;
  }

  /** A fact of the recording. Cycles are run by `cycle`. */
  apply(event: RecordedEvent, atMs: number): void {
    const { engine } = this;
    const { assumptions } = this.#options;
    this.#advance(atMs);
    switch (event.kind) {
      case 'enter':
        return this.#enterAll(event.machine, event.sinceMs, atMs);
      case 'leave':
        for (const id of [event.id, ...assumptions.copyIdsOf(event.id)]) this.#remove(id, atMs);
        return;
      case 'shape':
        return this.#reshape(event.machine, atMs);
      case 'withhold':
        this.fleet.withhold(event.id, event.reason);
        return;
      case 'jump':
        return this.#jump(event, atMs);
      case 'demand':
        engine.needs.replace(
          engine.inventory.clusterIndex(event.cluster),
          assumptions.needs(event.cluster, event.needs),
        );
        return this.#copyDemand(event.cluster, event.needs);
      case 'rollup':
        this.#rollup(event.cluster, assumptions.needs(event.cluster, event.needs));
        return this.#copyDemand(event.cluster, event.needs);
      case 'reported':
        return engine.markReported(event.cluster);
      case 'held_off':
        return engine.setHeldOff(event.heldOff);
      case 'release_policy':
        engine.releasePolicy = assumptions.policy(event.policy);
        return;
      case 'memory':
        return restoreMemory(engine, event.memory);
      case 'step':
      case 'cycle':
        return;
    }
  }

  /** Decides, and carries out what the rails let pass. */
  cycle(atMs: number, slices: ReadonlyMap<string, number> | undefined): void {
    this.#advance(atMs);
    this.#loseZones(atMs);
    for (const { cluster, needs } of this.#later.get(this.#cycle) ?? []) {
      this.#rollup(cluster, needs);
    }
    this.#later.delete(this.#cycle);
    this.#cycle += 1;
    const { engine } = this;
    engine.setBrakes(this.#brake.brakes(atMs, (id) => this.#isTried(id)));
    const quotaRemaining = slices === undefined ? undefined : this.#quotaLeft(slices);
    engine.cycle({ nowMs: atMs, ...(quotaRemaining === undefined ? {} : { quotaRemaining }) });
    this.unmet.observe(engine.shortfalls.entries, atMs, this.fleet.meter.pointAt(atMs));
    this.#execute(atMs);
  }

  /** What the last cycle decided, before the rails. */
  decided(): readonly Action[] {
    return readActions(this.engine);
  }

  #rollup(cluster: string, needs: readonly Need[]): void {
    if (!this.engine.applyRollup(cluster, needs).ok) this.#skippedCount += 1;
  }

  #copyDemand(cluster: string, needs: readonly Need[]): void {
    const { assumptions } = this.#options;
    for (const { name, shiftCycles } of assumptions.clusterCopies(cluster)) {
      const own = assumptions.needs(cluster, needs).map((need) => ({ ...need, cluster: name }));
      const due = this.#cycle + shiftCycles;
      const later = this.#later.get(due) ?? [];
      later.push({ cluster: name, needs: own });
      this.#later.set(due, later);
    }
  }

  #quotaLeft(slices: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
    const { meter } = this.fleet;
    return new Map(
      [...slices].map(([provider, slice]) => [
        provider,
        Math.max(0, slice - meter.elasticHeld(provider)),
      ]),
    );
  }

  #enterAll(recorded: Machine, sinceMs: number, atMs: number): void {
    const { assumptions } = this.#options;
    if (!assumptions.isDropped(recorded.id)) this.#enter(recorded, sinceMs, atMs);
    else this.#removedCount += 1;
    for (const copy of assumptions.copiesOf(recorded)) this.#enter(copy, sinceMs, atMs);
  }

  #enter(recorded: Machine, sinceMs: number, atMs: number): void {
    const machine = this.#options.assumptions.machine(recorded);
    if (this.#lostZones.has(machine.zone)) return;
    if (!this.fleet.put(machine, machine.state === State.Idle ? sinceMs : atMs)) {
      this.#skippedCount += 1;
      return;
    }
    this.#brake.changed(machine, undefined, false, atMs);
    this.#begin(machine, machine.assigned, atMs);
  }

  #remove(id: string, atMs: number): boolean {
    const machine = this.fleet.find(id);
    if (machine === undefined) return false;
    this.#operations.delete(id);
    this.#lastCluster.delete(id);
    this.fleet.remove(id);
    this.#brake.changed(machine, machine.state, true, atMs);
    return true;
  }

  /** Price, probability and the rest of what a provider says; what this side does with it stays. */
  #reshape(recorded: Machine, atMs: number): void {
    const { assumptions } = this.#options;
    for (const id of [recorded.id, ...assumptions.copyIdsOf(recorded.id)]) {
      const machine = this.fleet.find(id);
      if (machine === undefined) continue;
      const isOriginal = id === recorded.id;
      const { instanceType, zone, capacityType, labels, allocatable } = recorded;
      const { pricePerHour, interruptionProbability } = assumptions.machine(recorded);
      this.fleet.put(
        {
          ...machine,
          instanceType,
          zone,
          capacityType,
          labels,
          allocatable,
          pricePerHour,
          interruptionProbability,
          withheld: isOriginal ? recorded.withheld : machine.withheld,
        },
        atMs,
      );
    }
  }

  /**
   * A jump fits a machine that is where the recorded one was; a host that was lost is lost in any
   * state that has one. A machine that did not fail here is not mended here either.
   */
  #jump({ from, machine: recorded }: Extract<RecordedEvent, { kind: 'jump' }>, atMs: number): void {
    const machine = this.fleet.find(recorded.id);
    const to = recorded.state;
    const isLostHost = to === State.Failed && isStable(from) && isHost(machine?.host);
    if (machine === undefined || (machine.state !== from && !isLostHost)) {
      this.#skippedCount += 1;
      return;
    }
    const keepsBinding = to === State.Failed || isBound(to);
    const jumped: Machine = {
      ...machine,
      state: to,
      host: recorded.host,
      cluster: keepsBinding ? machine.cluster || recorded.cluster : '',
      assigned: keepsBinding ? machine.assigned : noAssignment,
      intendedCluster: '',
      lastError: recorded.lastError,
    };
    if (!this.fleet.put(jumped, atMs)) {
      this.#skippedCount += 1;
      return;
    }
    this.#operations.delete(jumped.id);
    if (isBound(machine.state)) this.#lastCluster.set(machine.id, machine.cluster);
    this.#brake.changed(jumped, machine.state, false, atMs);
    this.#begin(jumped, jumped.assigned, atMs);
  }

  #loseZones(atMs: number): void {
    for (const loss of this.#options.assumptions.zoneLosses) {
      if (atMs < loss.atMs || this.#lostZones.has(loss.zone)) continue;
      this.#lostZones.add(loss.zone);
      for (const id of this.fleet.ids()) {
        if (this.fleet.find(id)?.zone === loss.zone && this.#remove(id, atMs)) {
          this.#removedCount += 1;
        }
      }
    }
  }

  #isTried(id: string): boolean {
    const state = this.fleet.stateOf(id);
    return state === State.Creating || state === State.Configuring;
  }

  #execute(atMs: number): void {
    const { actions, inventory } = this.engine;
    const places = new Map<number, number>();
    for (let at = 0; at < actions.length; at++) {
      const cluster = actions.cluster[at]!;
      if (cluster >= 0 && !places.has(cluster)) places.set(cluster, places.size);
    }
    const { meter } = this.fleet;
    const names = [...places.keys()].map((cluster) => inventory.clusters.text(cluster));
    const configured = (name: string): number =>
      meter.configuredCount(inventory.clusters.find(name));
    const walk = new RailWalk(names, configured, this.#options.rails);
    for (let at = 0; at < actions.length; at++) {
      const kind = actions.kind[at] as ActionKindCode;
      if (walk.judge(kind, places.get(actions.cluster[at]!) ?? -1) !== undefined) {
        this.#deferredCount += 1;
        continue;
      }
      this.#actionCounts[kind] += 1;
      this.#act(kind, actions.slot[at]!, actions.row[at], actions.graceSeconds[at]!, atMs);
    }
  }

  #act(
    kind: ActionKindCode,
    slot: number,
    row: Row | undefined,
    graceSeconds: number,
    atMs: number,
  ): void {
    switch (kind) {
      case ActionKind.Provision:
        if (row !== undefined) this.#create(slot, row.need, atMs);
        return;
      case ActionKind.Bootstrap:
        if (row !== undefined) this.#configure(slot, row.need, atMs);
        return;
      case ActionKind.Reclaim:
      case ActionKind.Preempt:
        // A drain ends with its grace at the latest.
        return this.#start(slot, State.Draining, {}, atMs, graceSeconds * 1_000);
      case ActionKind.Delete:
        return this.#start(slot, State.Deleting, {}, atMs);
    }
  }

  /** A create that takes no time goes on as a bootstrap; a later one is found by a later cycle. */
  #create(slot: number, need: Need, atMs: number): void {
    const { cluster, profile, group } = need;
    const id = this.#try(slot, need, atMs);
    const assigned = { ...noAssignment, needFingerprint: profile.fingerprint, group };
    this.#start(slot, State.Creating, { intendedCluster: cluster, assigned }, atMs);
    if (this.#operations.get(id)?.dueMs !== atMs) return;
    this.#complete(id, atMs);
    this.#configure(slot, need, atMs);
  }

  #configure(slot: number, need: Need, atMs: number): void {
    const { cluster, profile, group } = need;
    const id = this.#try(slot, need, atMs);
    const before = this.#lastCluster.get(id);
    if (before !== undefined && before !== cluster) this.#clusterChangeCount += 1;
    const { fingerprint, priority, interruptionBucket, reclamationBucket } = profile;
    const assigned = { ...noAssignment, needFingerprint: fingerprint, group };
    this.#start(slot, State.Configuring, { cluster, assigned }, atMs);
    this.#begin(
      this.engine.inventory.read(slot),
      { priority, interruptionBucket, reclamationBucket, needFingerprint: fingerprint, group },
      atMs,
    );
  }

  #try(slot: number, { cluster, profile }: Need, atMs: number): string {
    const machine = this.engine.inventory.read(slot);
    this.#brake.began(machine, { cluster, fingerprint: profile.fingerprint }, atMs);
    return machine.id;
  }

  #start(
    slot: number,
    to: StateCode,
    changes: Parameters<MeteredFleet['move']>[2],
    atMs: number,
    mostMs = Number.POSITIVE_INFINITY,
  ): void {
    const before = this.engine.inventory.columns.state[slot] as StateCode;
    this.fleet.move(slot, to, changes, atMs);
    const machine = this.engine.inventory.read(slot);
    this.#brake.changed(machine, before, false, atMs);
    this.#begin(machine, machine.assigned, atMs, mostMs);
  }

  /** A machine in a transitional state leaves it after its provider's time. */
  #begin(
    machine: Machine,
    assigned: Assignment,
    atMs: number,
    mostMs = Number.POSITIVE_INFINITY,
  ): void {
    const transition = transitionOf(machine.state);
    if (transition === undefined) return;
    const ms = Math.min(mostMs, this.#dwellOf(machine.provider, transition));
    // What the first snapshot shows has no time of its own: it begins with the first cycle.
    const dueMs = Math.max(atMs, this.#options.span.startMs) + ms;
    this.#operations.set(machine.id, { id: machine.id, dueMs, assigned });
    this.#nextDueMs = Math.min(this.#nextDueMs, dueMs);
  }

  #dwellOf(provider: string, transition: Transition): number {
    return this.#dwellMs.get(dwellKey(provider, transition)) ?? 0;
  }

  /** Operations that are due end in the order of their time, then of their machines. */
  #advance(atMs: number): void {
    const { meter } = this.fleet;
    for (const { id, dueMs } of this.#nextDueMs <= atMs ? this.#takeDue(atMs) : []) {
      meter.advance(dueMs);
      this.#complete(id, dueMs);
    }
    meter.advance(atMs);
  }

  #takeDue(atMs: number): Operation[] {
    const due: Operation[] = [];
    this.#nextDueMs = Number.POSITIVE_INFINITY;
    for (const operation of this.#operations.values()) {
      if (operation.dueMs <= atMs) due.push(operation);
      else this.#nextDueMs = Math.min(this.#nextDueMs, operation.dueMs);
    }
    return due.sort((a, b) => a.dueMs - b.dueMs || compareText(a.id, b.id));
  }

  #complete(id: string, atMs: number): void {
    const operation = this.#operations.get(id);
    const machine = this.fleet.find(id);
    if (operation === undefined || machine === undefined) return;
    this.#operations.delete(id);
    const slot = this.engine.inventory.slotOf(id);
    const { state, provider, cluster } = machine;
    switch (state) {
      case State.Creating:
        this.fleet.move(slot, State.Idle, { host: { provider, ref: id } }, atMs);
        break;
      case State.Configuring: {
        const { assigned } = operation;
        const changes = assigned === undefined ? {} : { assigned };
        this.fleet.move(slot, State.Configured, changes, atMs);
        break;
      }
      case State.Draining:
        this.#lastCluster.set(id, cluster);
        this.fleet.move(slot, State.Idle, {}, atMs);
        break;
      case State.Deleting:
        this.fleet.move(slot, State.Speculative, {}, atMs);
        break;
      default:
        return;
    }
    this.#brake.changed(this.engine.inventory.read(slot), state, false, atMs);
  }

  answer(): SideAnswer {
    const { meter } = this.fleet;
    const { pointCount, widthMs } = this.#options.span;
    const points = Array.from({ length: pointCount }, (_, at) => at);
    const types = Object.values(CapacityType);
    const states = Object.values(State).filter((state) => state !== State.Unspecified);
    return {
      money: {
        ...meter.money(),
        dollarsByCapacityType: Object.fromEntries(
          types.map((type) => [capacityTypeName(type), meter.dollarsOf(type)]),
        ),
      },
      machineHoursByCapacityType: Object.fromEntries(
        types.map((type) => [capacityTypeName(type), meter.paidHours(type)]),
      ),
      machineHoursByState: Object.fromEntries(
        states.map((state) => [stateName(state), meter.machineHours(state)]),
      ),
      expectedInterruptions: meter.expectedInterruptions(),
      shortfalls: this.unmet.shortfalls(),
      churn: {
        actionsByKind: Object.fromEntries(
          KINDS.map((kind) => [actionKindName(kind), this.#actionCounts[kind]]),
        ),
        deferredCount: this.#deferredCount,
        clusterChangeCount: this.#clusterChangeCount,
        removedCount: this.#removedCount,
      },
      series: {
        widthMs,
        dollarsPerHour: points.map((point) => meter.pointDollarsPerHour(point)),
        boundCount: points.map((point) => meter.pointBoundCount(point)),
        unmetRows: this.unmet.points(),
      },
    };
  }
}
