// The shard's port with nothing behind it: it remembers what it was told, in order, and answers as a
// test says. What the orders do to a real shard is proven beside them.

import type { Shortfall } from '@bigfleet/engine';
import type {
  FleetSummary,
  ForeignDrainOrder,
  HeldOwnership,
  OrderOutcome,
  OwnershipReport,
  PrepareOrder,
  QuotaSlice,
  ShardAssignment,
  ShardControl,
  TransferOrder,
} from '@bigfleet/shard';

type Domain = Parameters<ShardControl['assignDomain']>[0];

export class RecordingControl implements ShardControl {
  readonly shardId = 's1';
  readonly epoch = 7n;
  /** `kind detail`, in order. */
  readonly told: string[] = [];
  readonly assignments: ShardAssignment[] = [];
  readonly drains: ForeignDrainOrder[] = [];
  readonly prepares: PrepareOrder[] = [];
  inactive: ShardControl['inactive'];
  outcome: OrderOutcome | Error = { kind: 'accepted' };
  assignmentError: Error | undefined;
  closeError: Error | undefined;
  /** Of the domains that it gives up. */
  emptyZones: ReadonlySet<string> = new Set();
  shortfallRows: readonly Shortfall[] = [];
  clusters: readonly string[] = [];
  heldNow: HeldOwnership = { domains: [], overrides: [], providers: [], homes: [], others: [] };
  owned: OwnershipReport = {
    revision: 0n,
    transfers: [],
    isProviderShared: false,
    releasingDomains: [],
  };
  fleet: FleetSummary = {};
  /** Set to make orders wait. */
  gate: Promise<void> | undefined;

  get revision(): bigint {
    return this.owned.revision;
  }

  frozenTransferOf(): undefined {
    return undefined;
  }

  summary(): FleetSummary {
    return this.fleet;
  }

  shortfalls(limit: number): readonly Shortfall[] {
    return this.shortfallRows.slice(0, limit);
  }

  ownership(): OwnershipReport {
    return this.owned;
  }

  clusterIds(): readonly string[] {
    return this.clusters;
  }

  held(): HeldOwnership {
    return this.heldNow;
  }

  async applyAssignment(assignment: ShardAssignment): Promise<void> {
    if (this.assignmentError !== undefined) throw this.assignmentError;
    this.assignments.push(assignment);
    this.told.push(`assignment ${assignment.revision}`);
    this.owned = { ...this.owned, revision: assignment.revision };
  }

  async closeEmptyDomains(): Promise<void> {
    if (this.closeError !== undefined) throw this.closeError;
    const releasingDomains = this.owned.releasingDomains.filter(
      ({ value }) => !this.emptyZones.has(value),
    );
    this.owned = { ...this.owned, releasingDomains };
  }

  answeredWithoutAssignment(): void {
    this.told.push('no news');
  }

  async retireTransfers(transferIds: readonly string[]): Promise<void> {
    this.told.push(`retire ${transferIds.join()}`);
  }

  assignDomain({ key, value }: Domain): Promise<OrderOutcome> {
    return this.#order(`assign ${key}=${value}`);
  }

  unassignDomain({ key, value }: Domain): Promise<OrderOutcome> {
    return this.#order(`unassign ${key}=${value}`);
  }

  setQuotaSlice({ provider, region, slice }: QuotaSlice): Promise<OrderOutcome> {
    return this.#order(`quota ${provider}/${region}=${slice}`);
  }

  prepareTransfer(order: PrepareOrder): Promise<OrderOutcome> {
    this.prepares.push(order);
    return this.#order(`prepare ${order.transferId}`);
  }

  claimTransfer({ transferId, machineIds }: TransferOrder): Promise<OrderOutcome> {
    return this.#order(`claim ${transferId} ${machineIds.join()}`);
  }

  releaseTransfer({ transferId, machineIds }: TransferOrder): Promise<OrderOutcome> {
    return this.#order(`release ${transferId} ${machineIds.join()}`);
  }

  cancelTransfer(transferId: string): Promise<OrderOutcome> {
    return this.#order(`cancel ${transferId}`);
  }

  drainForAnother(order: ForeignDrainOrder): Promise<OrderOutcome> {
    this.drains.push(order);
    return this.#order('drain');
  }

  async #order(what: string): Promise<OrderOutcome> {
    this.told.push(what);
    await this.gate;
    if (this.outcome instanceof Error) throw this.outcome;
    return this.outcome;
  }
}
