// Recovery after a restore (§10.5) as a state machine without I/O: reports and removals in, what to
// commit and who is still recovering out. A restored ledger is older than the shards; until they have
// said what they hold, it takes nothing from anybody and gives nothing that another may be using.
// Every leadership over a ledger that was ever restored goes through it: that an earlier leader
// finished is written nowhere, and going through it again costs a few reports.

import type { ShardReport } from '@bigfleet/wire';
import type { RecoveryView } from '../assignment/recovery-view.ts';
import { textOf } from '../assignment/domain-gate.ts';
import type { FleetView } from '../state/fleet-view.ts';
import type { Domain, OverrideRow } from '../state/rows.ts';
import { type Claim, domainSubject, judge, subjectOf, type Verdict } from './claims.ts';
import { type Asking, fleetAddresses, type Held, heldOf, isAnswer } from './held.ts';

/**
 * Shards whose registration the snapshot does not know are known only once they report. No provider
 * leaves recovery before they had three default intervals for it.
 */
export const MIN_RECOVERY_MS = 30_000;

export interface Conflict {
  readonly subject: string;
  readonly claimants: readonly string[];
  /** Providers that stay in recovery for it. */
  readonly addresses: ReadonlySet<string>;
  /** Present when it is about a domain: assigning it decides. */
  readonly domain: Domain | undefined;
}

export interface RecoveryMachineOptions {
  readonly view: FleetView;
  readonly term: bigint;
  readonly startedAtMs: number;
  readonly nowMs: () => number;
  readonly minRecoveryMs?: number;
}

export class RecoveryMachine implements RecoveryView {
  readonly #options: RecoveryMachineOptions;
  readonly #asked = new Map<string, Asking>();
  readonly #answers = new Map<string, Held>();
  /** Of the last report in this leadership, answered or not. */
  readonly #addresses = new Map<string, ReadonlySet<string>>();
  /** Claims that are not settled yet, by shard and subject. */
  readonly #open = new Map<string, Claim>();
  readonly #conflicts = new Map<string, Conflict>();
  readonly #decided = new Set<string>();
  #isOver: boolean;

  constructor(options: RecoveryMachineOptions) {
    this.#options = options;
    this.#isOver = options.view.meta.ledgerGeneration === 0;
  }

  onReport(report: ShardReport): 'answer' | 'waiting' | 'over' {
    if (this.isOver()) return 'over';
    const { shardId } = report;
    this.#addresses.set(shardId, fleetAddresses(report));
    if (!isAnswer(report, this.#asked.get(shardId), this.#options.term)) return 'waiting';
    const held = heldOf(report);
    this.#answers.set(shardId, held);
    for (const claim of claimsOf(shardId, held)) this.#reopen(claim);
    this.#dropConflictsOf(shardId, held);
    return 'answer';
  }

  /** A reply with `send_held` goes out. */
  onAsked(shardId: string, epoch: bigint): void {
    const before = this.#asked.get(shardId);
    const count = before?.epoch === epoch ? before.count + 1 : 1;
    this.#asked.set(shardId, { epoch, count });
  }

  onShardRemoved(shardId: string): void {
    this.#asked.delete(shardId);
    this.#answers.delete(shardId);
    this.#addresses.delete(shardId);
    for (const [key, claim] of this.#open) if (claim.shardId === shardId) this.#open.delete(key);
    for (const [subject, { claimants }] of this.#conflicts) {
      if (claimants.includes(shardId)) this.#conflicts.delete(subject);
    }
  }

  /** Not settled yet, as of now. */
  openClaims(): readonly Claim[] {
    return [...this.#open.values()];
  }

  /** To be asked right before acting on it: an earlier commit may have changed the answer. */
  verdictOn(claim: Claim): Verdict {
    const verdict = judge(this.#options.view, this.#answers, claim);
    if (verdict.kind === 'settled') this.#open.delete(keyOf(claim));
    return verdict;
  }

  /** True when it is news. Also for a claim that the ledger refuses to take in. */
  onConflict(claim: Claim, owner: string): boolean {
    this.#open.delete(keyOf(claim));
    const subject = subjectOf(claim);
    if (this.#conflicts.has(subject) || this.#decided.has(subject)) return false;
    const claimants = [claim.shardId, owner].filter((id) => id !== '');
    this.#conflicts.set(subject, {
      subject,
      claimants,
      addresses: this.#disputedAddresses(claim, owner),
      domain: claim.kind === 'domain' ? claim.domain : undefined,
    });
    return true;
  }

  /** An operator has said who is right. */
  decide(subject: string): void {
    this.#decided.add(subject);
    this.#conflicts.delete(subject);
  }

  conflictOn(domain: Domain): Conflict | undefined {
    return this.#conflicts.get(domainSubject(domain));
  }

  conflicts(): readonly Conflict[] {
    return [...this.#conflicts.values()];
  }

  /**
   * Overrides that the ledger got back and their owner does not hold, although it has answered: it
   * gave them up after the snapshot, and by now the home may own those ids again. None before every
   * claim is merged, or the row of a machine that another shard claims would go too.
   */
  lapsedOverrides(): readonly OverrideRow[] {
    return this.#isEarly() || this.#open.size > 0 ? [] : this.#lapsed();
  }

  isOver(): boolean {
    if (this.#isOver) return true;
    if (this.#isEarly() || this.#open.size > 0 || this.#conflicts.size > 0) return false;
    this.#isOver = this.#unanswered().length === 0 && this.#lapsed().length === 0;
    return this.#isOver;
  }

  /** `all`: somebody who may hold anything has not spoken. */
  recoveringProviders(): ReadonlySet<string> | 'all' {
    if (this.isOver()) return new Set();
    const unanswered = this.#unanswered();
    const isUnknown = unanswered.some((id) => !this.#addresses.has(id));
    if (isUnknown || this.#isEarly()) return 'all';
    const unmerged = [...this.#open.values()].map(({ shardId }) => shardId);
    const lapsed = this.#lapsed().map(({ owner }) => owner);
    const shards = new Set([...unanswered, ...unmerged, ...lapsed]);
    const addresses = [...shards].flatMap((id) => [...(this.#addresses.get(id) ?? [])]);
    const disputed = this.conflicts().flatMap((conflict) => [...conflict.addresses]);
    return new Set([...addresses, ...disputed]);
  }

  isRecovering(shardId: string): boolean {
    const recovering = this.recoveringProviders();
    if (recovering === 'all') return true;
    if (this.#isOver) return false;
    if (!this.#answers.has(shardId)) return true;
    const { view } = this.#options;
    const registered = view
      .providers()
      .filter(({ shards }) => shards.length === 0 || shards.includes(shardId))
      .map(({ address }) => address);
    const own = [...(this.#addresses.get(shardId) ?? []), ...registered];
    return own.some((address) => recovering.has(address));
  }

  asksForHeld(shardId: string): boolean {
    return this.isRecovering(shardId);
  }

  holdsDomain(shardId: string, domain: Domain): boolean {
    return this.#answers.get(shardId)?.domains.has(textOf(domain)) === true;
  }

  holdsOverride(shardId: string, machineId: string): boolean {
    return this.#answers.get(shardId)?.overrides.has(machineId) === true;
  }

  holdsProvider(shardId: string, name: string): boolean {
    return this.#answers.get(shardId)?.providers.has(name) === true;
  }

  /** Machines that the shard holds by override, by its last answer; 0 without recovery. */
  heldOverrideCount(shardId: string): number {
    return this.#answers.get(shardId)?.overrides.size ?? 0;
  }

  /** Who said that it acts as home of the address; none without recovery. */
  homeClaimants(address: string): readonly string[] {
    return [...this.#answers].filter(([, { homes }]) => homes.has(address)).map(([id]) => id);
  }

  #isEarly(): boolean {
    const { nowMs, startedAtMs, minRecoveryMs = MIN_RECOVERY_MS } = this.#options;
    return nowMs() - startedAtMs < minRecoveryMs;
  }

  /**
   * An open transfer explains why its recipient does not hold the machine yet, but only while its
   * donor has a record of it too: both have forgotten one that went on to its end after the snapshot.
   */
  #lapsed(): readonly OverrideRow[] {
    const { view } = this.#options;
    const isKnown = (donor: string, id: string): boolean =>
      this.#answers.get(donor)?.transferIds.has(id) ?? true;
    const open = new Set(
      view
        .openTransfers()
        .filter(({ from, id }) => isKnown(from, id))
        .map(({ id }) => id),
    );
    return view.overrides().filter(({ owner, machineId, transferId }) => {
      const answer = this.#answers.get(owner);
      return answer !== undefined && !answer.overrides.has(machineId) && !open.has(transferId);
    });
  }

  #unanswered(): readonly string[] {
    const shards = this.#options.view.shards().map(({ id }) => id);
    return shards.filter((id) => !this.#answers.has(id));
  }

  #reopen(claim: Claim): void {
    if (judge(this.#options.view, this.#answers, claim).kind === 'settled') return;
    if (this.#conflicts.has(subjectOf(claim)) || this.#decided.has(subjectOf(claim))) return;
    this.#open.set(keyOf(claim), claim);
  }

  /** A claimant that has let go ends the dispute. */
  #dropConflictsOf(shardId: string, held: Held): void {
    const subjects = new Set([...claimsOf(shardId, held)].map(subjectOf));
    for (const [subject, { claimants }] of this.#conflicts) {
      if (claimants.includes(shardId) && !subjects.has(subject)) this.#conflicts.delete(subject);
    }
  }

  /** What both dial; if nothing, whatever either dials: the claim is wrong somewhere. */
  #disputedAddresses(claim: Claim, owner: string): ReadonlySet<string> {
    const mine = this.#addresses.get(claim.shardId) ?? new Set<string>();
    if (claim.kind === 'provider') return new Set([claim.target.address, ...mine]);
    const theirs = this.#addresses.get(owner) ?? new Set<string>();
    const common = new Set([...mine].filter((address) => theirs.has(address)));
    return common.size > 0 ? common : new Set([...mine, ...theirs]);
  }
}

function keyOf(claim: Claim): string {
  return `${claim.shardId} ${subjectOf(claim)}`;
}

function* claimsOf(shardId: string, held: Held): Generator<Claim> {
  for (const target of held.providers.values()) yield { kind: 'provider', shardId, target };
  for (const domain of held.domains.values()) yield { kind: 'domain', shardId, domain };
  for (const [machineId, transferId] of held.overrides) {
    yield { kind: 'override', shardId, machineId, transferId };
  }
}
