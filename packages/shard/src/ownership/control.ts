// The port through which the shard is steered by a process that knows the whole fleet: reports read from the
// fleet and the books, orders carried out (each in its own file), and what has to be looked at once a cycle.
// The shard does not know which process that is, when it speaks, or over which transport (coordinator R1).
// Every method may be called at any time and none waits for the decision loop; reports are values as of
// the call.

import { BigFleetError, compareText } from '@bigfleet/base';
import { ActionKind, type Shortfall } from '@bigfleet/engine';
import type { CycleReport } from '../core/observer.ts';
import {
  type Domain,
  type DomainRef,
  isAuthoritative,
  type MachineOverride,
  type QuotaSlice,
  type ShardAssignment,
  withDomain,
  withoutDomain,
  withQuota,
  withReleasing,
} from './assignment.ts';
import type { ControlParts } from './open-ownership.ts';
import { type FleetSummary, type ListFacts, summariseFleet } from './fleet-summary.ts';
import { drainForAnother } from './foreign-drain.ts';
import { GoneWatch } from './fleet-keeper.ts';
import { heldForeignDomains, otherOwners, emptyReleasingDomains } from './held-domains.ts';
import {
  accepted,
  failed,
  type ForeignDrainOrder,
  type HeldOwnership,
  type OrderOutcome,
  type OwnershipReport,
  type PrepareOrder,
  type TransferOrder,
} from './shard-control.ts';
import { frozenMachines, reportTransfers, retiredIn } from './transfer-book.ts';
import {
  cancelTransfer,
  claimTransfer,
  fetchClaimed,
  prepareTransfer,
  releaseTransfer,
} from './transfer-orders.ts';
import { MAX_MACHINES_PER_STEP } from './selection.ts';

const NEVER_LISTED: ListFacts = { isHealthy: false, unixNanos: 0n };
/** Retried, unlike "nothing here would serve", which gives the transfer up. */
const NOT_LISTED_YET = failed('', 'its provider has not been listed since the start');

/** What a cycle found out that matters here. */
export interface CycleFacts extends Pick<CycleReport, 'refreshes'> {
  readonly answer: Pick<CycleReport['answer'], 'shortfalls'>;
}

/** What the other process sees of it. */
export type ShardControl = Omit<Control, 'cycled'>;

export class Control {
  readonly #parts: ControlParts;
  readonly #goneWatch = new GoneWatch();
  readonly #lists = new Map<string, ListFacts>();
  #shortfalls: ReadonlyMap<string, Shortfall> = new Map();
  #isTending = false;

  constructor(parts: ControlParts) {
    this.#parts = parts;
  }

  get shardId(): string {
    return this.#parts.shardId;
  }

  get epoch(): bigint {
    return this.#parts.epoch;
  }

  /** Why no order to act is taken; undefined when actuation is on. */
  get inactive(): 'actuation_paused' | 'dry_run' | undefined {
    const { paused, dryRun } = this.#parts.actuation.effective;
    if (paused || this.#parts.core.isFenced) return 'actuation_paused';
    return dryRun ? 'dry_run' : undefined;
  }

  /** Of the last assignment that is durable and in force; 0 asks for it again. */
  get revision(): bigint {
    return this.#parts.store.revision;
  }

  /** The transfer that a machine is promised to. */
  frozenTransferOf(machineId: string): string | undefined {
    for (const { transferId, state, machineIds } of this.#parts.store.book.records.values()) {
      if (state === 'frozen' && machineIds.includes(machineId)) return transferId;
    }
    return undefined;
  }

  summary(): FleetSummary {
    const { core, directory, store } = this.#parts;
    return summariseFleet({
      fleet: core.fleet,
      directory,
      frozen: frozenMachines(store.book),
      listFacts: (name) => this.#lists.get(name) ?? NEVER_LISTED,
    });
  }

  /** Highest priority first. */
  shortfalls(limit: number): readonly Shortfall[] {
    return [...this.#shortfalls.values()].sort(compareShortfalls).slice(0, limit);
  }

  ownership(): OwnershipReport {
    const { store, shardId, directory } = this.#parts;
    return {
      revision: store.revision,
      transfers: reportTransfers(store.book),
      isProviderShared: directory.hasShared,
      releasingDomains: store.assignment.releasing
        .filter(({ isEmpty }) => !isEmpty)
        .map(({ key, value }) => ({ key, value, shardId })),
    };
  }

  /** Clusters served here. */
  clusterIds(): readonly string[] {
    const { demand, operators } = this.#parts;
    const ids = new Set(demand.clusters());
    for (const { cluster } of operators.sessions.all()) ids.add(cluster);
    return [...ids].sort(compareText);
  }

  /** What it acts on, for a ledger that lost it. */
  held(): HeldOwnership {
    const { assignment } = this.#parts.store;
    return {
      domains: assignment.domains,
      overrides: this.#adopted(),
      providers: this.#parts.follower.targets(),
      homes: assignment.ownsUnmatchedProviders,
      others: otherOwners(this.shardId, assignment, this.#parts.store.book),
    };
  }

  /** Durable and in force when it resolves. */
  async applyAssignment(assignment: ShardAssignment): Promise<void> {
    const { store, follower, keeper, providers, directory, core } = this.#parts;
    const isWhole = isAuthoritative(store.assignment, assignment);
    const isUsable = await follower.store(assignment.providers, isWhole);
    const { adopted } = store.assignment;
    const before = new Set(adopted.map(({ machineId }) => machineId));
    const holding = (): readonly DomainRef[] =>
      heldForeignDomains(assignment, { adopted, frozen: frozenMachines(store.book) }, core.fleet);
    await store.apply(assignment, holding());
    // An action may have begun there while the file was written; from here on none begins.
    if (isWhole) await store.change((stored) => withReleasing(stored, holding()));
    if (isUsable) follower.install(assignment.providers, isWhole);
    keeper.refreshAll();
    // Machines that are ours from now on were skipped by the Lists before.
    for (const source of providers) {
      if (directory.get(source.name)?.isShared === true) source.lookAgain();
    }
    core.wake();
    const claimed = store.assignment.adopted
      .map(({ machineId }) => machineId)
      .filter((id) => !before.has(id));
    // Beside the report: a provider that is slow to answer must not hold up the next one.
    if (claimed.length > 0) this.#parts.supervise('ownership', this.#fetch(claimed));
  }

  /** A machine that its provider does not answer for now comes with the next List. */
  async #fetch(machineIds: readonly string[]): Promise<void> {
    const outcome = await fetchClaimed(this.#parts, machineIds.slice(0, MAX_MACHINES_PER_STEP));
    if (outcome.kind === 'failed') {
      this.#parts.logger.warn('claimed machines are not fetched yet', { err: outcome.detail });
    }
  }

  /** Before each report: a domain that the report does not name stays closed, also if the answer is lost. */
  async closeEmptyDomains(): Promise<void> {
    const { store, core, directory } = this.#parts;
    const shared = [...directory.entries()].filter(([, { isShared }]) => isShared);
    // Before its first List the fleet is empty, although machines may run there.
    if (!shared.every(([, { address }]) => this.#isListed(address))) return;
    const empty = emptyReleasingDomains(store, core.fleet);
    if (empty.length > 0) await store.empty(empty);
  }

  /** The ledger took a report, and had no assignment to send. */
  answeredWithoutAssignment(): void {
    this.#parts.store.askAboutEmpty();
  }

  retireTransfers(transferIds: readonly string[]): Promise<void> {
    return this.#parts.store.note((book) => retiredIn(book, transferIds));
  }

  async assignDomain({ key, value }: Domain): Promise<OrderOutcome> {
    const { shardId } = this;
    await this.#parts.store.change((stored) => withDomain(stored, { key, value, shardId }));
    return accepted;
  }

  async unassignDomain(domain: Domain): Promise<OrderOutcome> {
    await this.#parts.store.change((stored) => withoutDomain(stored, domain));
    return accepted;
  }

  async setQuotaSlice(slice: QuotaSlice): Promise<OrderOutcome> {
    await this.#parts.store.change((stored) => withQuota(stored, slice));
    return accepted;
  }

  prepareTransfer(order: PrepareOrder): Promise<OrderOutcome> {
    const isKnown = this.#parts.store.book.records.has(order.transferId);
    if (!isKnown && !this.#isListed(order.selector.providerAddress)) {
      return Promise.resolve(NOT_LISTED_YET);
    }
    return prepareTransfer(this.#parts, order);
  }

  claimTransfer(order: TransferOrder): Promise<OrderOutcome> {
    return claimTransfer(this.#parts, order);
  }

  releaseTransfer(order: TransferOrder): Promise<OrderOutcome> {
    return releaseTransfer(this.#parts, order);
  }

  cancelTransfer(transferId: string): Promise<OrderOutcome> {
    return cancelTransfer(this.#parts, transferId);
  }

  drainForAnother(order: ForeignDrainOrder): Promise<OrderOutcome> {
    if (!this.#isListed(order.selector.providerAddress)) return Promise.resolve(NOT_LISTED_YET);
    return drainForAnother(this.#parts, order);
  }

  /** Before the first List the fleet is empty, and no candidate can be ruled out. */
  #isListed(address: string): boolean {
    const name = this.#parts.directory.nameAt(address);
    if (name === undefined) return true;
    const { isHealthy, unixNanos } = this.#lists.get(name) ?? NEVER_LISTED;
    return isHealthy || unixNanos > 0n;
  }

  cycled({ answer, refreshes }: CycleFacts): void {
    const { runtime, keeper, supervise } = this.#parts;
    this.#shortfalls = answer.shortfalls;
    const unixNanos = runtime.clock.unixNanos();
    for (const [name, outcome] of refreshes) {
      // A List that is merely under way says nothing yet.
      if (outcome.kind === 'unanswered' && !outcome.isSilent) continue;
      const before = this.#lists.get(name) ?? NEVER_LISTED;
      const isHealthy = outcome.kind === 'refreshed';
      this.#lists.set(name, isHealthy ? { isHealthy, unixNanos } : { ...before, isHealthy });
    }
    keeper.tend();
    this.#deleteLeftovers();
    if (this.#isTending) return;
    this.#isTending = true;
    supervise('ownership', this.#tend(refreshes));
  }

  /** The part that needs the disk: one at a time; a full disk is tried again in the next cycle. */
  async #tend(refreshes: CycleReport['refreshes']): Promise<void> {
    const { store, core, follower, logger } = this.#parts;
    try {
      const gone = this.#goneWatch.look(this.#adopted(), core.fleet, this.#hasListedAll(refreshes));
      if (gone.length > 0) await store.lose(gone);
      await follower.tend();
    } catch (error) {
      if (!(error instanceof BigFleetError)) throw error;
      logger.error('ownership could not be made durable', { err: error.message });
    } finally {
      this.#isTending = false;
    }
  }

  #adopted(): readonly MachineOverride[] {
    const { assignment, book } = this.#parts.store;
    return assignment.adopted.filter(({ machineId }) => !book.gone.has(machineId));
  }

  #hasListedAll(refreshes: CycleReport['refreshes']): boolean {
    const shared = [...this.#parts.directory.entries()].filter(([, { isShared }]) => isShared);
    return shared.every(([name]) => {
      const outcome = refreshes.get(name);
      return outcome?.kind === 'refreshed' && outcome.summary.removal.kind === 'done';
    });
  }

  /** Idle machines of a provider that retires: nothing may acquire them, so they are given back. */
  #deleteLeftovers(): void {
    const { core, keeper } = this.#parts;
    if (this.inactive !== undefined) return;
    for (const slot of keeper.leftovers()) {
      const isTaken = core.offer({
        kind: ActionKind.Delete,
        handle: core.fleet.handleOf(slot),
        machineId: core.fleet.inventory.ids[slot] ?? '',
        cluster: '',
        need: undefined,
        graceSeconds: 0,
        preemptorPriority: 0,
        reason: 'phase3.release',
        cycle: core.cycleCount,
      });
      if (!isTaken) return;
    }
  }
}

function compareShortfalls(a: Shortfall, b: Shortfall): number {
  if (a.profile.priority !== b.profile.priority) return b.profile.priority - a.profile.priority;
  if (a.ageCycles !== b.ageCycles) return b.ageCycles - a.ageCycles;
  return compareText(a.profile.fingerprint, b.profile.fingerprint);
}
