// What each shard may be acting on, as far as this leadership knows: one row per shard, with its last
// report, what the reply to it offered, and what the shard answered in recovery. Never durable, and
// empty after each election: an empty row means "not heard yet", never "no demand", "no capacity" or
// "acts on nothing". Whoever decides what another shard may be told (assignment/), what a restored
// ledger gets back (recovery/) or what moves (transfers/) reads this table and keeps none of its own,
// so that `forget` is one call: a successor of a removed shard's name starts anew.
//
// Bound: one row per shard that reported; in it one wait per registry entry that reaches the shard.

import type { Clock } from '@bigfleet/base';
import type { ShardAssignment, ShardReport, ShardSummary, Shortfall } from '@bigfleet/wire';
import type { ProviderRow } from '../state/rows.ts';
import { dialledProviders, dialsByFlag, isFleetWide } from './dialled-providers.ts';
import { type Asking, type Claim, claimsOf, type Held, subjectOf } from './held.ts';

export interface ShardPicture {
  readonly shardId: string;
  /** Monotonic time of acceptance: age is measured by it. */
  readonly receivedAtMs: number;
  /** Wall time of acceptance, for people. */
  readonly receivedAtUnixNanos: bigint;
  /** Between the last two accepted reports, at most a minute; undefined after the first. */
  readonly intervalMs: number | undefined;
  readonly summary: ShardSummary;
  readonly shortfalls: readonly Shortfall[];
  readonly report: ShardReport;
}

export interface MaybeDialled {
  readonly address: string;
  readonly isShared: boolean;
}

interface ShardRow {
  picture: ShardPicture | undefined;
  /** Providers in the reply to that report; the next report shows whether the reply arrived. */
  told: readonly MaybeDialled[];
  /** Since which revision the shard waits to dial a shared provider, by address. */
  readonly waits: Map<string, { readonly entry: ProviderRow; readonly revision: number }>;
  asking: Asking | undefined;
  held: Held | undefined;
  /** Subjects of everything in `held`. */
  subjects: ReadonlySet<string>;
  /** Claims of the shard that recovery has not settled yet, by subject. */
  readonly openClaims: Map<string, Claim>;
}

export class SoftState {
  /** Monotonic; no shard can have been heard before. */
  readonly startedAtMs: number;
  readonly #rows = new Map<string, ShardRow>();
  readonly #fresh = new Set<string>();

  constructor(startedAtMs: number = 0) {
    this.startedAtMs = startedAtMs;
  }

  /** After a RemoveShard, and before a registration: nothing known of the old shard may reach the new. */
  forget(shardId: string): void {
    this.#rows.delete(shardId);
  }

  // The last report.

  picture(shardId: string): ShardPicture | undefined {
    return this.#rows.get(shardId)?.picture;
  }

  /** By shard id. */
  pictures(): readonly ShardPicture[] {
    return [...this.#rows.values()]
      .flatMap(({ picture }) => picture ?? [])
      .toSorted((a, b) => (a.shardId < b.shardId ? -1 : 1));
  }

  /**
   * Since the shard was last heard, or, of a shard that this leader has not heard, since it took over: a
   * dead shard stays old over an election, and a live one is not taken for dead right after it.
   */
  silentForMs(shardId: string, nowMs: number): number {
    return Math.max(0, nowMs - (this.picture(shardId)?.receivedAtMs ?? this.startedAtMs));
  }

  /**
   * Reports are ordered by (epoch, cycle): cycle restarts with the shard, and a zombie must not paint
   * over its successor.
   */
  isNewer(shardId: string, epoch: bigint, cycle: bigint): boolean {
    const known = this.picture(shardId)?.report;
    if (known === undefined || epoch > known.shardEpoch) return true;
    return epoch === known.shardEpoch && cycle > known.cycle;
  }

  /** Full replacement, empty shortfalls included: keeping old ones leaves a shard short for ever. */
  replace(picture: ShardPicture): void {
    const row = this.#row(picture.shardId);
    row.picture = picture;
    row.told = [];
  }

  // What the shard may dial.

  /** An assignment goes out with the reply. A shard with flags of its own does not dial by it. */
  tell(report: ShardReport, assignment: ShardAssignment): void {
    if (dialsByFlag(report)) return;
    this.#row(report.shardId).told = assignment.providers.map(({ address, shared }) => ({
      address,
      isShared: shared,
    }));
  }

  /**
   * Providers of the last report and of the reply to it, an address twice when the two differ about it.
   * A rule that believed reports alone would give one provider to two shards within one interval.
   * Without addresses that mean another provider on every host.
   */
  maybeDialledBy(shardId: string): readonly MaybeDialled[] {
    const row = this.#rows.get(shardId);
    if (row === undefined) return [];
    const reported = row.picture === undefined ? [] : dialledProviders(row.picture.report);
    return [...reported, ...row.told].filter(({ address }) => isFleetWide(address));
  }

  /**
   * Since which revision a newcomer waits to dial a shared provider: an assignment at least as new, of a
   * shard that dials it already, names the newcomer's domains as foreign. The revision is remembered,
   * or a busy ledger would keep the newcomer waiting for ever. A new leader begins with the revision of
   * its first look, which is later and as good. A row that was written again may have left the shard
   * out in between, so its wait begins anew.
   */
  waitsSince(shardId: string, entry: ProviderRow, currentRevision: number): bigint {
    const { waits } = this.#row(shardId);
    const known = waits.get(entry.address);
    const wait = known?.entry === entry ? known : { entry, revision: currentRevision };
    waits.set(entry.address, wait);
    return BigInt(wait.revision);
  }

  /** An entry that no longer reaches the shard ends its wait; coming back is a new admission. */
  keepWaits(shardId: string, addresses: ReadonlySet<string>): void {
    const waits = this.#rows.get(shardId)?.waits;
    for (const address of waits?.keys() ?? []) if (!addresses.has(address)) waits?.delete(address);
  }

  /** The address was first registered under this leader, so that no shard can be dialling it. */
  onFirstRegistered(address: string): void {
    this.#fresh.add(address);
  }

  isFresh(address: string): boolean {
    return this.#fresh.has(address);
  }

  // What the shard answered in recovery.

  /** A reply with `send_held` goes out. */
  ask(shardId: string, epoch: bigint): void {
    const row = this.#row(shardId);
    const count = row.asking?.epoch === epoch ? row.asking.count + 1 : 1;
    row.asking = { epoch, count };
  }

  askingOf(shardId: string): Asking | undefined {
    return this.#rows.get(shardId)?.asking;
  }

  /** The claims of the answer, all of them. */
  answer(shardId: string, held: Held): readonly Claim[] {
    const claims = claimsOf(shardId, held);
    const row = this.#row(shardId);
    row.held = held;
    row.subjects = new Set(claims.map(subjectOf));
    return claims;
  }

  heldBy(shardId: string): Held | undefined {
    return this.#rows.get(shardId)?.held;
  }

  /** Answers so far, by shard. */
  answers(): ReadonlyMap<string, Held> {
    return new Map(
      [...this.#rows].flatMap(([id, { held }]): [string, Held][] => (held ? [[id, held]] : [])),
    );
  }

  claims(shardId: string, subject: string): boolean {
    return this.#rows.get(shardId)?.subjects.has(subject) === true;
  }

  openClaims(): readonly Claim[] {
    return [...this.#rows.values()].flatMap((row) => [...row.openClaims.values()]);
  }

  open(claim: Claim): void {
    this.#row(claim.shardId).openClaims.set(subjectOf(claim), claim);
  }

  close(claim: Claim): void {
    this.#rows.get(claim.shardId)?.openClaims.delete(subjectOf(claim));
  }

  #row(shardId: string): ShardRow {
    const known = this.#rows.get(shardId);
    if (known !== undefined) return known;
    const row: ShardRow = {
      picture: undefined,
      told: [],
      waits: new Map(),
      asking: undefined,
      held: undefined,
      subjects: new Set(),
      openClaims: new Map(),
    };
    this.#rows.set(shardId, row);
    return row;
  }
}

/** coordinator §5.2: priority-ranked by the shard, so the first ones are those that count. */
const MAX_SHORTFALLS = 100;

/** A shard that is silent for longer is reported stale, whatever interval it was told to keep. */
const MAX_INTERVAL_MS = 60_000;

export function pictureOf(
  report: ShardReport,
  previous: ShardPicture | undefined,
  clock: Clock,
): ShardPicture {
  const receivedAtMs = clock.monotonicMs();
  return {
    shardId: report.shardId,
    receivedAtMs,
    receivedAtUnixNanos: clock.unixNanos(),
    intervalMs:
      previous === undefined
        ? undefined
        : Math.min(MAX_INTERVAL_MS, receivedAtMs - previous.receivedAtMs),
    summary: report.summary ?? emptySummary(),
    shortfalls: report.shortfalls.slice(0, MAX_SHORTFALLS),
    report,
  };
}

const MIN_STALE_MS = 30_000;
const STALE_INTERVALS = 3;

/** A shard that fell silent neither gives nor takes: its picture may describe machines long gone. */
export function isFresh(picture: ShardPicture, nowMs: number): boolean {
  const staleAfterMs = Math.max(MIN_STALE_MS, STALE_INTERVALS * (picture.intervalMs ?? 0));
  return nowMs - picture.receivedAtMs < staleAfterMs;
}

function emptySummary(): ShardSummary {
  return {
    $typeName: 'bigfleet.v1alpha1.ShardSummary',
    totalMachines: 0,
    freeMachines: 0,
    perInstanceTypeCounts: {},
    perZoneCounts: {},
    providerAddress: '',
    idleMachines: 0,
    providers: [],
  };
}
