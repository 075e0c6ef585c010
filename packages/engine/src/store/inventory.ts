// The machines of a shard: the single place where a machine is written, and the indexes that
// the phases read. Every write checks the record's invariants; a write by our own actions also
// checks the transition. Whatever a write touches is marked, so that the next cycle evaluates
// what changed and not what exists.
//
// Refuses: duplicate meaning (one id is one slot), records that violate the grid, transitions
// that no action walks. What a provider observes may jump (`put`); what we do may not (`move`).

import {
  assert,
  err,
  type MachineRefusal,
  ok,
  type PenaltyBucket,
  type Result,
} from '@bigfleet/base';
import { CapacityType } from '../model/capacity-type.ts';
import {
  type Assignment,
  type HostRef,
  isHost,
  type Machine,
  machineProblem,
  noAssignment,
  type Withheld,
  withheldReasons,
} from '../model/machine.ts';
import {
  gridOf,
  isBound,
  isLegalTransition,
  isPresent,
  STATE_COUNT,
  State,
  type StateCode,
} from '../model/state.ts';
import { Classes } from './classes.ts';
import { ClusterSupply } from './cluster-supply.ts';
import { Columns } from './columns.ts';
import { Dimensions } from './dimensions.ts';
import { IdIndex } from './id-index.ts';
import { IdOrder } from './id-order.ts';
import { IdleHolds } from './idle-holds.ts';
import { hashText, InputDigest } from './input-digest.ts';
import { Interner } from './interner.ts';
import { PoolLog } from './pool-log.ts';
import { SortedSlots } from './sorted-slots.ts';
import { VictimIndex } from './victim-index.ts';

/** What our own actions may change besides the state. */
export interface MoveChanges {
  readonly host?: HostRef;
  readonly cluster?: string;
  readonly lastError?: string;
  readonly assigned?: Assignment;
  readonly intendedCluster?: string;
}

export interface InventoryOptions {
  /**
   * Whether the indexes of the phases are kept: order, pools, holds, victims, supply, digest.
   * Whoever only holds machines goes without; slots and generations come out the same. Default: yes.
   */
  readonly isIndexed?: boolean;
}

export class Inventory {
  readonly #isIndexed: boolean;
  readonly dimensions: Dimensions = new Dimensions();
  readonly classes: Classes = new Classes(this.dimensions);
  readonly columns: Columns = new Columns();
  readonly fingerprints: Interner = new Interner();
  readonly groups: Interner = new Interner();
  /** Cluster indexes are never reused: records and memos name them. */
  readonly clusters: Interner = new Interner();
  readonly ids: string[] = [];
  readonly victims: VictimIndex = new VictimIndex(this.columns);
  readonly #slots: IdIndex = new IdIndex(this.ids, this.columns);
  readonly #order: IdOrder = new IdOrder(this.ids);
  /** Substrate ids; the provider label is interned in a column. */
  readonly #hostRefs: (string | undefined)[] = [];
  readonly #hostProviders: string[] = [];
  readonly #errors = new Map<number, string>();
  readonly #free: number[] = [];
  readonly #supply: (ClusterSupply | undefined)[] = [];
  /** By class: Idle and Speculative machines that may be acquired. */
  readonly idlePools: (SortedSlots | undefined)[] = [];
  readonly speculativePools: (SortedSlots | undefined)[] = [];
  readonly drainingPools: (SortedSlots | undefined)[] = [];
  readonly poolLog: PoolLog = new PoolLog();
  readonly onDemandHolds: IdleHolds = new IdleHolds();
  readonly spotHolds: IdleHolds = new IdleHolds();
  readonly digest: InputDigest = new InputDigest();
  /** Machines by state, for gauges and shape assertions. */
  readonly stateCounts: Int32Array = new Int32Array(STATE_COUNT);
  /** Clusters whose supply changed since the last cycle. */
  readonly dirtyClusters: Set<number> = new Set();
  /** Classes that gained their first or lost their last acquirable machine since the last cycle. */
  readonly flippedClasses: Set<number> = new Set();

  constructor({ isIndexed = true }: InventoryOptions = {}) {
    this.#isIndexed = isIndexed;
  }

  get size(): number {
    return this.#slots.size;
  }

  get drainingCount(): number {
    return this.stateCounts[State.Draining]!;
  }

  /** One more than the highest slot in use. */
  get slotCount(): number {
    return this.ids.length;
  }

  /** −1 when unknown. */
  slotOf(id: string): number {
    return this.#slots.find(id);
  }

  clusterIndex(name: string): number {
    const known = this.clusters.find(name);
    return known >= 0 ? known : this.clusters.retain(name);
  }

  supplyOf(cluster: number): ClusterSupply | undefined {
    return this.#supply[cluster];
  }

  /** Writes what was observed: a new record, or whatever an existing one has become. */
  put(machine: Machine, nowMs: number): Result<number, MachineRefusal> {
    const problem = machineProblem(machine);
    if (problem !== undefined) return err(problem);
    if (!this.dimensions.hasRoomFor(machine.allocatable)) return err('structural');
    const known = this.slotOf(machine.id);
    if (known >= 0 && this.#providerOf(known) !== machine.provider) return err('duplicate_id');
    const slot = known >= 0 ? known : this.#claimSlot(machine.id);
    const wasIdle = known >= 0 && this.columns.state[slot] === State.Idle;
    if (known >= 0) this.#withdraw(slot);
    this.#write(slot, machine);
    if (machine.state !== State.Idle) this.columns.idleSinceMs[slot] = 0;
    else if (!wasIdle) this.columns.idleSinceMs[slot] = nowMs;
    this.#enter(slot);
    return ok(slot);
  }

  remove(id: string): boolean {
    const slot = this.slotOf(id);
    if (slot < 0) return false;
    this.#withdraw(slot);
    this.#release(slot);
    this.#slots.remove(slot);
    if (this.#isIndexed) {
      this.digest.add(~this.columns.idHash[slot]!);
      this.#order.remove(slot);
    }
    this.ids[slot] = '';
    this.#setHost(slot, undefined);
    this.#errors.delete(slot);
    const { generation } = this.columns;
    generation[slot] = generation[slot]! + 1;
    this.#free.push(slot);
    return true;
  }

  /**
   * Walks one edge of the state machine. Entering Idle or Speculative clears the binding and
   * everything that was stamped with it; the caller says what else changes.
   */
  move(slot: number, to: StateCode, changes: MoveChanges, nowMs: number): void {
    const { columns } = this;
    const from = columns.state[slot] as StateCode;
    assert(isLegalTransition(from, to), 'no action walks this transition', { from, to });
    this.#withdraw(slot);
    const unbound = to === State.Idle || to === State.Speculative;
    columns.state[slot] = to;
    if (to === State.Speculative) this.#setHost(slot, undefined);
    else if (changes.host !== undefined) this.#setHost(slot, changes.host);
    if (unbound) columns.cluster[slot] = -1;
    else if (changes.cluster !== undefined) {
      columns.cluster[slot] = this.clusterIndex(changes.cluster);
    }
    if (to !== State.Creating) columns.intended[slot] = -1;
    else if (changes.intendedCluster !== undefined) {
      const { intendedCluster } = changes;
      columns.intended[slot] = intendedCluster === '' ? -1 : this.clusterIndex(intendedCluster);
    }
    if (unbound) this.#assign(slot, noAssignment);
    else if (changes.assigned !== undefined) this.#assign(slot, changes.assigned);
    if (to === State.Failed && changes.lastError !== undefined) {
      this.#errors.set(slot, changes.lastError);
    }
    if (to !== State.Idle) columns.idleSinceMs[slot] = 0;
    else if (from !== State.Idle) columns.idleSinceMs[slot] = nowMs;
    this.#checkGrid(slot, to);
    this.#enter(slot);
  }

  #checkGrid(slot: number, state: StateCode): void {
    const { host, cluster } = gridOf(state);
    const hasCluster = this.columns.cluster[slot]! >= 0;
    assert(isPresent(host, isHost(this.#host(slot))), 'host does not fit the state', { state });
    assert(isPresent(cluster, hasCluster), 'cluster does not fit the state', { state });
    assert(
      state !== State.Failed || (this.#errors.get(slot) ?? '') !== '',
      'Failed needs a reason',
    );
  }

  #assign(slot: number, assigned: Assignment): void {
    const { columns } = this;
    const needFp = this.fingerprints.retain(assigned.needFingerprint);
    const group = this.groups.retain(assigned.group);
    this.fingerprints.release(columns.needFp[slot]!);
    this.groups.release(columns.group[slot]!);
    columns.needFp[slot] = needFp;
    columns.group[slot] = group;
    columns.priority[slot] = assigned.priority;
    columns.effectivePriority[slot] = assigned.priority;
    columns.interruptionBucket[slot] = assigned.interruptionBucket;
    columns.reclamationBucket[slot] = assigned.reclamationBucket;
  }

  /** Sets what preemption compares: the higher of the stamp and the claiming need's priority. */
  protect(slot: number, effectivePriority: number): void {
    assert(this.#isIndexed, 'an inventory without indexes protects nothing');
    const { columns } = this;
    const isVictim = columns.state[slot] === State.Configured && columns.withheld[slot] === 0;
    if (isVictim) this.victims.remove(slot);
    columns.effectivePriority[slot] = effectivePriority;
    if (isVictim) this.victims.add(slot);
  }

  withhold(slot: number, reason: Withheld | undefined): void {
    this.#withdraw(slot);
    this.columns.withheld[slot] = withheldReasons.indexOf(reason);
    this.#enter(slot);
  }

  /** Overrides the idle stamp: restored state and tests. */
  setIdleSince(slot: number, sinceMs: number): void {
    this.#withdraw(slot);
    this.columns.idleSinceMs[slot] = sinceMs;
    this.#enter(slot);
  }

  read(slot: number): Machine {
    const { columns, classes } = this;
    const klass = columns.klass[slot]!;
    const shape = classes.shape(klass);
    assert(shape !== undefined, 'slot without a class', { slot });
    const intended = columns.intended[slot]!;
    return {
      ...shape,
      id: this.ids[slot]!,
      state: columns.state[slot] as StateCode,
      host: this.#host(slot),
      cluster: this.#clusterName(columns.cluster[slot]!),
      allocatable: classes.allocatable.read(klass),
      lastError: this.#errors.get(slot) ?? '',
      assigned: {
        priority: columns.priority[slot]!,
        interruptionBucket: columns.interruptionBucket[slot] as PenaltyBucket,
        reclamationBucket: columns.reclamationBucket[slot] as PenaltyBucket,
        needFingerprint: this.fingerprints.text(columns.needFp[slot]!),
        group: this.groups.text(columns.group[slot]!),
      },
      intendedCluster: this.#clusterName(intended),
      withheld: withheldReasons[columns.withheld[slot]!],
    };
  }

  #host(slot: number): HostRef | undefined {
    const provider = this.columns.hostProvider[slot]!;
    if (provider === 0) return undefined;
    return { provider: this.#hostProviders[provider - 1] ?? '', ref: this.#hostRefs[slot] ?? '' };
  }

  #setHost(slot: number, host: HostRef | undefined): void {
    this.#hostRefs[slot] = host?.ref;
    this.columns.hostProvider[slot] = host === undefined ? 0 : this.#hostProvider(host.provider);
  }

  /** A shard has a handful of provider labels; the search stays short. */
  #hostProvider(label: string): number {
    const known = this.#hostProviders.indexOf(label);
    if (known >= 0) return known + 1;
    this.#hostProviders.push(label);
    assert(this.#hostProviders.length < 0xffff, 'too many provider labels in host references');
    return this.#hostProviders.length;
  }

  #clusterName(index: number): string {
    return index < 0 ? '' : this.clusters.text(index);
  }

  #claimSlot(id: string): number {
    const slot = this.#free.pop() ?? this.ids.length;
    this.columns.ensure(slot + 1);
    this.ids[slot] = id;
    this.columns.idHash[slot] = hashText(id);
    this.#slots.add(slot);
    if (this.#isIndexed) this.#order.insert(slot, this.columns.rank);
    return slot;
  }

  #providerOf(slot: number): string {
    const { classes, columns } = this;
    return classes.providerName(classes.provider[columns.klass[slot]!]!);
  }

  /** Fills the columns; the slot is in no index now. */
  #write(slot: number, machine: Machine): void {
    const { columns } = this;
    // Joined before the old class is left: an unchanged record must not define its class anew.
    const klass = this.classes.join(machine);
    this.#release(slot);
    columns.state[slot] = machine.state;
    columns.klass[slot] = klass;
    columns.cluster[slot] = machine.cluster === '' ? -1 : this.clusterIndex(machine.cluster);
    columns.intended[slot] =
      machine.intendedCluster === '' ? -1 : this.clusterIndex(machine.intendedCluster);
    columns.needFp[slot] = 0;
    columns.group[slot] = 0;
    // A quota slot was never bound to anything.
    this.#assign(slot, machine.state === State.Speculative ? noAssignment : machine.assigned);
    columns.withheld[slot] = withheldReasons.indexOf(machine.withheld);
    this.#setHost(slot, machine.host);
    if (machine.lastError === '') this.#errors.delete(slot);
    else this.#errors.set(slot, machine.lastError);
  }

  /** Gives back what the old content of the slot retained. */
  #release(slot: number): void {
    const { columns } = this;
    if (columns.state[slot] === State.Unspecified) return;
    this.classes.leave(columns.klass[slot]!);
    this.fingerprints.release(columns.needFp[slot]!);
    this.groups.release(columns.group[slot]!);
    columns.state[slot] = State.Unspecified;
  }

  #enter(slot: number): void {
    this.#count(slot, 1);
    if (!this.#isIndexed) return;
    this.#digest(slot);
    this.#index(slot, true);
  }

  #digest(slot: number): void {
    const { columns, digest } = this;
    digest.add(columns.idHash[slot]!);
    digest.add(columns.state[slot]! * 8 + columns.withheld[slot]!);
    digest.add(this.classes.hashOf(columns.klass[slot]!));
    digest.add(this.clusters.hashOf(Math.max(0, columns.cluster[slot]!)));
    digest.add(this.fingerprints.hashOf(columns.needFp[slot]!));
    digest.add(this.groups.hashOf(columns.group[slot]!));
    digest.add(columns.priority[slot]!);
    digest.add(columns.interruptionBucket[slot]! * 32 + columns.reclamationBucket[slot]!);
    digest.add(this.clusters.hashOf(Math.max(0, columns.intended[slot]!)));
    digest.add(columns.idleSinceMs[slot]! | 0);
  }

  #withdraw(slot: number): void {
    this.#count(slot, -1);
    if (this.#isIndexed) this.#index(slot, false);
  }

  #count(slot: number, by: 1 | -1): void {
    const state = this.columns.state[slot]!;
    const cell = this.columns.klass[slot]! * STATE_COUNT + state;
    this.classes.counts[cell] = this.classes.counts[cell]! + by;
    this.stateCounts[state] = this.stateCounts[state]! + by;
  }

  #index(slot: number, entering: boolean): void {
    const { columns } = this;
    const state = columns.state[slot]!;
    const isOurs = columns.withheld[slot] === 0;
    if (state === State.Idle) {
      if (isOurs) this.#pool(this.idlePools, slot, entering);
      if (isOurs) this.#hold(slot, entering);
    } else if (state === State.Speculative) {
      if (isOurs) this.#pool(this.speculativePools, slot, entering);
    } else if (state === State.Creating) {
      this.#creating(slot);
    } else if (isBound(state)) {
      if (state === State.Draining) {
        if (isOurs) this.#pool(this.drainingPools, slot, entering);
      } else {
        this.#bound(slot, state === State.Configured, isOurs, entering);
      }
      this.dirtyClusters.add(columns.cluster[slot]!);
    }
  }

  #pool(pools: (SortedSlots | undefined)[], slot: number, entering: boolean): void {
    const klass = this.columns.klass[slot]!;
    let pool = pools[klass];
    if (pool === undefined) pools[klass] = pool = new SortedSlots();
    if (entering) pool.insert(slot, this.columns);
    else assert(pool.remove(slot, this.columns), 'a machine is not in the pool of its state');
    if (pools === this.drainingPools) return;
    this.poolLog.add(klass, entering);
    if (pool.size <= 1) this.flippedClasses.add(klass);
  }

  #hold(slot: number, entering: boolean): void {
    const type = this.classes.capacityType[this.columns.klass[slot]!];
    const holds =
      type === CapacityType.OnDemand
        ? this.onDemandHolds
        : type === CapacityType.Spot
          ? this.spotHolds
          : undefined;
    if (entering) holds?.add(slot, this.columns.idleSinceMs[slot]!);
    else holds?.remove(slot);
  }

  #creating(slot: number): void {
    const intended = this.columns.intended[slot]!;
    if (intended < 0) return;
    this.#supplyFor(intended).touch(slot);
    this.dirtyClusters.add(intended);
  }

  #bound(slot: number, isConfigured: boolean, isOurs: boolean, entering: boolean): void {
    this.#supplyFor(this.columns.cluster[slot]!).touch(slot);
    if (!isConfigured || !isOurs) return;
    if (entering) this.victims.add(slot);
    else this.victims.remove(slot);
  }

  #supplyFor(cluster: number): ClusterSupply {
    let supply = this.#supply[cluster];
    if (supply === undefined) {
      supply = new ClusterSupply(cluster, this.columns, this.classes);
      this.#supply[cluster] = supply;
    }
    return supply;
  }
}
