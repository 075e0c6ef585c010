// What a shard owns and dials, as one full replacement built from the ledger (coordinator §5.2
// ShardAssignment).
// Its revision says how much of the ledger it shows: below the current one while a domain has to wait
// (domain-gate.ts) or foreign domains are a guess (sharing.ts), so that the shard asks again by itself.
// Cost: references are made once per list of domains that changed, and shared by every assignment;
// one assignment copies pointers only. Guarded by assignments.test.ts (200 shards, 100,000 domains).

import type { DomainRef, MachineOverride, ShardAssignment, ShardReport } from '@bigfleet/wire';
import { dialledProviders, isFleetWide } from '../reports/dialled-providers.ts';
import type { FleetView } from '../state/fleet-state.ts';
import type { DomainRow, OverrideRow } from '../state/rows.ts';
import { revisionIn } from '../state/meta.ts';
import { domainGate } from './domain-gate.ts';
import { lacksTarget, providerTargets, targetOf } from './provider-targets.ts';
import { type SharingParts, sharersOf } from './sharing.ts';

export interface AssignmentsOptions extends SharingParts {
  readonly recovery: RecoveryView;
}

export class Assignments {
  readonly #options: AssignmentsOptions;
  /** A list of rows is never changed under its reader, so it names its own references. */
  readonly #references = new WeakMap<readonly DomainRow[], readonly DomainRef[]>();

  constructor(options: AssignmentsOptions) {
    this.#options = options;
  }

  /** What the reply to this report carries; undefined = the shard has it already. */
  forReport(report: ShardReport): ShardAssignment | undefined {
    const { view, recovery } = this.#options;
    if (recovery.isRecovering(report.shardId) || this.#lacksHome(report)) {
      return this.#confirmed(report);
    }
    const current = BigInt(view.meta.assignmentRevision);
    const { assignmentRevision } = report;
    // 0 is a shard that has none, or an old one that never says: it gets one every time.
    const isCurrent = assignmentRevision !== 0n && assignmentRevision === current;
    return isCurrent && !lacksTarget(this.#options, report) ? undefined : this.#full(report);
  }

  /**
   * After a restore a home row may be lost, and setting it anew may fail for now. The shard that acts as
   * that home must not be told meanwhile that it is none: it would give up machines in use.
   */
  #lacksHome(report: ShardReport): boolean {
    const { view } = this.#options;
    if (view.meta.ledgerGeneration === 0) return false;
    return dialledProviders(report).some(
      ({ address, isShared }) =>
        isShared && isFleetWide(address) && view.home(address) === undefined,
    );
  }

  #full(report: ShardReport): ShardAssignment {
    const { view, recovery } = this.#options;
    const { shardId } = report;
    const isOpen = domainGate(this.#options, report);
    const assigned = view.domainsOf(shardId).filter(({ state }) => state === 'ASSIGNED');
    const heldBack = new Set(
      assigned.filter((row) => !isOpen(row) && !recovery.holdsDomain(shardId, row)),
    );
    const sharers = sharersOf(this.#options, report);
    return {
      $typeName: 'bigfleet.ext.v1alpha1.ShardAssignment',
      revision: shownRevision(view, heldBack, sharers.isProvisional),
      domains: assigned.filter((row) => !heldBack.has(row)).map(referenceOf),
      quotas: quotasOf(view, shardId),
      adopted: view.overridesOwnedBy(shardId).map((row) => adoptedOf(view, row)),
      released: sharers.ids.length === 0 ? [] : releasedOf(view, shardId),
      ownsUnmatchedProviders: homesOf(view, shardId),
      foreignDomains: [
        ...sharers.ids.flatMap((id) => this.#referencesOf(view.domainsOf(id))),
        ...(report.keepsSharers ? [] : sharerMarks(sharers.ids)),
      ],
      ledgerGeneration: BigInt(view.meta.ledgerGeneration),
      complete: true,
      providers: [...providerTargets(this.#options, report)],
      // A shard keeps them, so that after a restore from before a sharer's registration some shard still
      // knows that the sharer exists, although it is silent (recovery-machine.ts).
      sharers: [...sharers.ids],
    };
  }

  /** Additive only, and nothing in it that the shard has not shown to hold. */
  #confirmed(report: ShardReport): ShardAssignment {
    const { view, soft, recovery } = this.#options;
    const { shardId } = report;
    const held = soft.heldBy(shardId);
    const dialled = new Map(dialledProviders(report).map((own) => [own.name, own]));
    return {
      $typeName: 'bigfleet.ext.v1alpha1.ShardAssignment',
      revision: BigInt(Math.max(0, view.meta.assignmentRevision - 1)),
      domains: view
        .domainsOf(shardId)
        .filter((row) => row.state === 'ASSIGNED' && recovery.holdsDomain(shardId, row))
        .map(referenceOf),
      quotas: [],
      adopted: view
        .overridesOwnedBy(shardId)
        .filter(({ machineId }) => held?.overrides.has(machineId))
        .map((row) => adoptedOf(view, row)),
      released: [],
      ownsUnmatchedProviders: [],
      foreignDomains: [],
      ledgerGeneration: BigInt(view.meta.ledgerGeneration),
      complete: false,
      providers: view
        .providers()
        .filter(({ name }) => held?.providers.has(name))
        .map((entry) => targetOf(entry, dialled.get(entry.name)?.isShared ?? false)),
      sharers: [],
    };
  }

  #referencesOf(rows: readonly DomainRow[]): readonly DomainRef[] {
    const known = this.#references.get(rows);
    if (known !== undefined) return known;
    const references = rows.map(referenceOf);
    this.#references.set(rows, references);
    return references;
  }
}

/** The last revision of which nothing is missing. Each revision writes at most one domain. */
function shownRevision(
  view: FleetView,
  heldBack: ReadonlySet<DomainRow>,
  isProvisional: boolean,
): bigint {
  const { meta } = view;
  let shown = meta.assignmentRevision - (isProvisional ? 1 : 0);
  for (const { revision } of heldBack) shown = Math.min(shown, revisionIn(meta, revision) - 1);
  return BigInt(Math.max(0, shown));
}

function referenceOf(row: DomainRow): DomainRef {
  return {
    $typeName: 'bigfleet.ext.v1alpha1.DomainRef',
    topologyKey: row.key,
    topologyValue: row.value,
    shardId: row.shardId,
  };
}

function quotasOf(view: FleetView, shardId: string): ShardAssignment['quotas'] {
  return view.quotas().flatMap(({ provider, region, slices }) =>
    slices
      .filter((slice) => slice.shardId === shardId)
      .map(({ slice }) => ({
        $typeName: 'bigfleet.ext.v1alpha1.QuotaSlice' as const,
        provider,
        region,
        slice,
      })),
  );
}

function homesOf(view: FleetView, shardId: string): string[] {
  return view
    .homes()
    .filter((home) => home.shardId === shardId)
    .map(({ providerAddress }) => providerAddress);
}

function adoptedOf(view: FleetView, row: OverrideRow): MachineOverride {
  return overrideOf(row, view.transfer(row.transferId)?.from ?? '');
}

/**
 * Every override of others, not only those that this shard gave away: a machine that moved twice
 * still matches the domain of its first owner, which the last transfer does not name.
 */
function releasedOf(view: FleetView, shardId: string): MachineOverride[] {
  return view
    .overrides()
    .filter(({ owner }) => owner !== shardId)
    .map((row) => overrideOf(row, row.owner));
}

function overrideOf(row: OverrideRow, peerShardId: string): MachineOverride {
  const { machineId, transferId } = row;
  return { $typeName: 'bigfleet.ext.v1alpha1.MachineOverride', machineId, transferId, peerShardId };
}

/**
 * What assignments ask of recovery (coordinator §10.5): whether a shard's part of the ledger is still being
 * put together, and what the shard has proved to hold. Until it is whole, a shard is told nothing that it
 * does not hold already: the restored ledger may give it what another shard has been using since.
 */
export interface RecoveryView {
  isRecovering(shardId: string): boolean;
  /** By this row: an answer in recovery says nothing about a domain that was assigned after it. */
  holdsDomain(shardId: string, row: DomainRow): boolean;
}

/** No machine has this label. */
const SHARER_KEY = 'bigfleet.lucy.sh/shard';

/**
 * The sharers for a shard of a build that does not keep `sharers`: each as a foreign domain of its own
 * name, which such a shard keeps with its assignment and takes for one more domain that is not its own.
 */
function sharerMarks(shardIds: readonly string[]): readonly DomainRef[] {
  return shardIds.map((shardId) => ({
    $typeName: 'bigfleet.ext.v1alpha1.DomainRef',
    topologyKey: SHARER_KEY,
    topologyValue: shardId,
    shardId,
  }));
}
