// Recovery after a restore (coordinator §10.5) as a state machine without I/O: reports in, what to commit
// and who is still recovering out. A restored ledger is older than the shards. Until every shard has said
// what it holds, the ledger takes nothing from a shard and gives nothing that another may be using.
//
// A shard that the ledger does not know is waited for as long as another shard names it as an owner; only
// its own report, or an operator's word that it is gone, ends that wait. Every leadership over a ledger
// that was ever restored goes through recovery: that an earlier leader finished is written nowhere, and
// going through it again costs a few reports.
//
// What shards answered is in the table of soft state; this machine keeps only what no shard said: open
// disputes, the operator's decisions and whether recovery is over.

import type { ShardReport } from '@bigfleet/wire';
import type { RecoveryView } from '../assignment/assignments.ts';
import {
  type Claim,
  fleetAddresses,
  type Held,
  heldOf,
  isAnswer,
  subjectOf,
  textOf,
} from '../reports/held.ts';
import type { SoftState } from '../reports/soft-state.ts';
import type { FleetView } from '../state/fleet-state.ts';
import { revisionIn } from '../state/meta.ts';
import type { DomainRow, OverrideRow } from '../state/rows.ts';
import type { DonorHolds } from '../transfers/saga-facts.ts';
import { isOfTerm } from '../transfers/transfer-id.ts';
import { judge, type Verdict } from './claims.ts';
import type { Dispute, RecoveryWait } from './waits.ts';

/**
 * A shard whose registration the snapshot does not know becomes known only when it reports. No provider
 * leaves recovery before such a shard had three default intervals for its report.
 */
export const MIN_RECOVERY_MS = 30_000;

export interface RecoveryMachineOptions {
  readonly view: FleetView;
  readonly soft: SoftState;
  readonly term: bigint;
  readonly nowMs: () => number;
  readonly minRecoveryMs?: number | undefined;
}

export class RecoveryMachine implements RecoveryView {
  readonly #options: RecoveryMachineOptions;
  readonly #disputes = new Map<string, Dispute>();
  /**
   * Subjects that an operator has decided. A decision holds for the rest of the leadership: the shard
   * that lost still holds the thing until its next complete assignment.
   */
  readonly #decided = new Set<string>();
  /** Shards that an operator called stopped for good. */
  readonly #givenUp = new Set<string>();
  #isOver: boolean;
  /** The last revision of recovery; until it is over, only recovery assigns domains. */
  #lastRevision = Number.POSITIVE_INFINITY;

  constructor(options: RecoveryMachineOptions) {
    this.#options = options;
    this.#isOver = options.view.meta.ledgerGeneration === 0;
  }

  /** After the report was taken into the soft state. */
  onReport(report: ShardReport): 'answer' | 'waiting' | 'over' {
    const { soft, term } = this.#options;
    const { shardId } = report;
    if (this.isOver()) return 'over';
    if (!isAnswer(report, soft.askingOf(shardId), term)) return 'waiting';
    this.#dropEnded();
    for (const claim of soft.answer(shardId, heldOf(report, term))) this.#reopen(claim);
    this.#dropEnded();
    return 'answer';
  }

  /** An operator says that the shard's process is stopped for good: nothing waits for it any more. */
  giveUp(shardId: string): void {
    this.#givenUp.add(shardId);
  }

  openClaims(): readonly Claim[] {
    return this.#options.soft.openClaims();
  }

  /** To be asked right before acting on it: an earlier commit may have changed the answer. */
  verdictOn(claim: Claim): Verdict {
    const { view, soft } = this.#options;
    const verdict = judge(view, soft, claim);
    if (verdict.kind === 'settled') soft.close(claim);
    return verdict;
  }

  /** True when it is news. Also for a claim that the ledger refuses to take in. */
  onConflict(claim: Claim, owner: string): boolean {
    const subject = subjectOf(claim);
    this.#options.soft.close(claim);
    if (this.#isKnown(subject)) return false;
    this.#disputes.set(subject, {
      subject,
      claim,
      claimants: [claim.shardId, owner].filter((id) => id !== ''),
      addresses: this.#disputedAddresses(claim, owner),
    });
    return true;
  }

  /** An operator has decided which shard keeps the subject. */
  decide(subject: string): void {
    this.#decided.add(subject);
  }

  disputeOn(subject: string): Dispute | undefined {
    const dispute = this.#disputes.get(subject);
    return dispute !== undefined && this.#isOpen(dispute) ? dispute : undefined;
  }

  disputes(): readonly Dispute[] {
    return [...this.#disputes.values()].filter((dispute) => this.#isOpen(dispute));
  }

  /** How the shard came by machines that it has frozen. */
  donorHolds(shardId: string, machineIds: readonly string[]): DonorHolds {
    const held = this.#options.soft.heldBy(shardId);
    // After recovery the shard acts on an assignment of this ledger, whatever it held before.
    if (held === undefined) return this.isOver() ? 'by-rule' : 'unknown';
    return machineIds.some((id) => held.overrides.has(id)) ? 'by-transfer' : 'by-rule';
  }

  /** The transfer by which the shard says that it holds the machine. */
  heldTransferOf(shardId: string, machineId: string): string | undefined {
    return this.#options.soft.heldBy(shardId)?.overrides.get(machineId);
  }

  /**
   * Overrides of the restored ledger that their owner has answered not to hold: the owner gave the
   * machine up after the snapshot, or is a later shard of the same name, and by now the home may own the
   * machine. An open transfer to the owner changes nothing: its shard may have been removed since.
   * None before every claim is merged, or the row of a machine that another shard claims would go too;
   * none of an owner that an older leader may still tell to claim.
   */
  lapsedOverrides(): readonly OverrideRow[] {
    const { soft } = this.#options;
    if (this.#isEarly() || this.openClaims().length > 0) return [];
    return this.#lapsed().filter(({ owner }) => soft.heldBy(owner)?.hasHeardUs === true);
  }

  isOver(): boolean {
    if (this.#isOver) return true;
    if (this.#isEarly() || this.openClaims().length > 0 || this.disputes().length > 0) return false;
    const isWaiting = this.#unanswered().length > 0 || this.#unknown().length > 0;
    this.#isOver = !isWaiting && this.#lapsed().length === 0 && this.#doubtful().length === 0;
    if (this.#isOver) this.#lastRevision = this.#options.view.meta.assignmentRevision;
    return this.#isOver;
  }

  /** `all`: a shard that may hold anything has not reported. */
  recoveringProviders(): ReadonlySet<string> | 'all' {
    if (this.isOver()) return new Set();
    const unanswered = this.#unanswered();
    if (this.#isEarly() || unanswered.some((id) => !this.#hasReported(id))) return 'all';
    const unmerged = this.openClaims().map(({ shardId }) => shardId);
    const lapsed = this.#lapsed().map(({ owner }) => owner);
    const naming = this.#unknown().flatMap(({ namedBy }) => namedBy);
    const shards = new Set([...unanswered, ...unmerged, ...lapsed, ...naming, ...this.#doubtful()]);
    const addresses = [...shards].flatMap((id) => [...this.#addressesOf(id)]);
    const disputed = this.disputes().flatMap((dispute) => [...dispute.addresses]);
    return new Set([...addresses, ...disputed]);
  }

  /** What only a shard or an operator can bring, with the providers that wait for it. */
  waits(): readonly { readonly wait: RecoveryWait; readonly addresses: readonly string[] }[] {
    if (this.isOver()) return [];
    const silent = this.#unanswered().map((shardId) => ({
      wait: { kind: 'silent' as const, shardId },
      addresses: this.#hasReported(shardId) ? [...this.#addressesOf(shardId)] : ['*'],
    }));
    const unknown = this.#unknown().map(({ shardId, namedBy }) => ({
      wait: { kind: 'unknown' as const, shardId, namedBy },
      addresses: [...new Set(namedBy.flatMap((id) => [...this.#addressesOf(id)]))],
    }));
    const disputes = this.disputes().map((dispute) => ({
      wait: { kind: 'dispute' as const, dispute },
      addresses: [...dispute.addresses],
    }));
    return [...silent, ...unknown, ...disputes];
  }

  /**
   * Whether a shard that the ledger does not know may still report something of the past. Once every
   * registered shard has answered and none names it, the shard was removed in this ledger.
   */
  mayTurnUp(shardId: string): boolean {
    const { view } = this.#options;
    if (this.isOver() || view.shard(shardId) !== undefined || this.#givenUp.has(shardId)) {
      return false;
    }
    if (this.#isEarly() || this.#unanswered().length > 0) return true;
    return this.isNamed(shardId);
  }

  /** The ledger does not have the shard, and another shard names it as an owner. */
  isNamed(shardId: string): boolean {
    return this.#unknown().some((unknown) => unknown.shardId === shardId);
  }

  isRecovering(shardId: string): boolean {
    const recovering = this.recoveringProviders();
    if (recovering === 'all') return true;
    if (this.#isOver) return false;
    const { view, soft } = this.#options;
    if (soft.heldBy(shardId) === undefined) return true;
    const registered = view.providersOf(shardId).map(({ address }) => address);
    const own = [...this.#addressesOf(shardId), ...registered];
    return own.some((address) => recovering.has(address));
  }

  holdsDomain(shardId: string, row: DomainRow): boolean {
    const { view, soft } = this.#options;
    const isSince = revisionIn(view.meta, row.revision) > this.#lastRevision;
    return !isSince && soft.heldBy(shardId)?.domains.has(textOf(row)) === true;
  }

  /** Shards that say they act as home of the address; none after recovery, when the ledger knows. */
  homeClaimants(address: string): readonly string[] {
    if (this.isOver()) return [];
    return this.#answers((_, { homes }) => homes.has(address));
  }

  #isEarly(): boolean {
    const { nowMs, soft, minRecoveryMs = MIN_RECOVERY_MS } = this.#options;
    return nowMs() - soft.startedAtMs < minRecoveryMs;
  }

  /** Without transfers of this leadership: a recipient that answered before the commit cannot hold it. */
  #lapsed(): readonly OverrideRow[] {
    const { view, term, soft } = this.#options;
    return view.overrides().filter(({ owner, machineId, transferId }) => {
      const held = soft.heldBy(owner);
      return held?.overrides.has(machineId) === false && !isOfTerm(transferId, term);
    });
  }

  /**
   * Shards that stand frozen with machines that are theirs only by an earlier transfer. What became of
   * those machines no shard that is asked knows, so the donor gives them up (transfers/lost-transfers.ts)
   * before the ledger is believed that still has them with this donor.
   */
  #doubtful(): readonly string[] {
    const { view, term } = this.#options;
    return this.#answers((shardId, { frozen, overrides }) =>
      [...frozen].some(([id, transferId]) => {
        const isTheirs = overrides.has(id) && (view.override(id)?.owner ?? shardId) === shardId;
        return isTheirs && !isOfTerm(transferId, term);
      }),
    );
  }

  #unknown(): readonly { readonly shardId: string; readonly namedBy: readonly string[] }[] {
    const { view, soft } = this.#options;
    const namedBy = new Map<string, string[]>();
    for (const [shardId, { others }] of soft.answers()) {
      for (const other of others) {
        if (view.shard(other) !== undefined || this.#givenUp.has(other)) continue;
        namedBy.set(other, [...(namedBy.get(other) ?? []), shardId]);
      }
    }
    return [...namedBy].map(([shardId, names]) => ({ shardId, namedBy: names.toSorted() }));
  }

  /** Shards whose answer it is true of. */
  #answers(isTrueOf: (shardId: string, held: Held) => boolean): readonly string[] {
    const answers = [...this.#options.soft.answers()];
    return answers.filter(([id, held]) => isTrueOf(id, held)).map(([id]) => id);
  }

  #hasReported(shardId: string): boolean {
    return this.#options.soft.picture(shardId) !== undefined;
  }

  #addressesOf(shardId: string): ReadonlySet<string> {
    const picture = this.#options.soft.picture(shardId);
    return picture === undefined ? new Set() : fleetAddresses(picture.report);
  }

  #unanswered(): readonly string[] {
    const { view, soft } = this.#options;
    const shards = view.shards().map(({ id }) => id);
    return shards.filter((id) => soft.heldBy(id) === undefined);
  }

  #reopen(claim: Claim): void {
    const { view, soft } = this.#options;
    if (judge(view, soft, claim).kind === 'settled') return;
    if (!this.#isKnown(subjectOf(claim))) soft.open(claim);
  }

  /** A dispute ends when the operator decides it, or when a claimant is gone or has let go. */
  #isOpen({ subject, claimants }: Dispute): boolean {
    const { soft } = this.#options;
    return !this.#decided.has(subject) && claimants.every((id) => soft.claims(id, subject));
  }

  /** A claim that comes back later is judged anew. */
  #dropEnded(): void {
    for (const [subject, dispute] of this.#disputes) {
      if (!this.#isOpen(dispute)) this.#disputes.delete(subject);
    }
  }

  #isKnown(subject: string): boolean {
    return this.#decided.has(subject) || this.disputeOn(subject) !== undefined;
  }

  /** Addresses that both shards dial; if none, those of either: one of the claims is wrong. */
  #disputedAddresses(claim: Claim, owner: string): ReadonlySet<string> {
    const mine = this.#addressesOf(claim.shardId);
    if (claim.kind === 'provider') return new Set([claim.target.address, ...mine]);
    if (claim.kind === 'home') return new Set([claim.address]);
    const theirs = this.#addressesOf(owner);
    const common = new Set([...mine].filter((address) => theirs.has(address)));
    return common.size > 0 ? common : new Set([...mine, ...theirs]);
  }
}
