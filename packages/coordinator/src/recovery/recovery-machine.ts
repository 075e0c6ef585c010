// Recovery after a restore (coordinator §10.5) as a state machine without I/O: reports and removals in, what to
// commit and who is still recovering out. A restored ledger is older than the shards; until they have
// said what they hold, it takes nothing from anybody and gives nothing that another may be using.
// A shard that the ledger does not know is waited for as long as another shard remembers it as an
// owner beside itself: only its own report, or the word of an operator that it is gone, ends that.
// Every leadership over a ledger that was ever restored goes through it: that an earlier leader
// finished is written nowhere, and going through it again costs a few reports.

import type { ShardReport } from '@bigfleet/wire';
import { textOf } from '../assignment/domain-gate.ts';
import type { RecoveryView } from '../assignment/assignments.ts';
import { revisionIn } from '../state/generation.ts';
import type { FleetView } from '../state/fleet-view.ts';
import type { DomainRow, OverrideRow } from '../state/rows.ts';
import type { DonorHolds } from '../transfers/saga-facts.ts';
import { isOfTerm } from '../transfers/transfer-id.ts';
import { type Claim, judge, subjectOf, type Verdict } from './claims.ts';
import { type Dispute, Disputes, type RecoveryWait } from './waits.ts';
import { type Asking, fleetAddresses, type Held, heldOf, isAnswer } from './held.ts';

/**
 * Shards whose registration the snapshot does not know are known only once they report. No provider
 * leaves recovery before they had three default intervals for it.
 */
export const MIN_RECOVERY_MS = 30_000;

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
  readonly #disputes = new Disputes();
  /** Gone for good, by the word of an operator. */
  readonly #givenUp = new Set<string>();
  #isOver: boolean;
  /** Of recovery: assignments are made by it alone until it is over. */
  #lastRevision = Number.POSITIVE_INFINITY;

  constructor(options: RecoveryMachineOptions) {
    this.#options = options;
    this.#isOver = options.view.meta.ledgerGeneration === 0;
  }

  onReport(report: ShardReport): 'answer' | 'waiting' | 'over' {
    if (this.isOver()) return 'over';
    const { shardId } = report;
    this.#addresses.set(shardId, fleetAddresses(report));
    if (!isAnswer(report, this.#asked.get(shardId), this.#options.term)) return 'waiting';
    const held = heldOf(report, this.#options.term);
    this.#answers.set(shardId, held);
    const claims = [...claimsOf(shardId, held)];
    for (const claim of claims) this.#reopen(claim);
    this.#disputes.dropOf(shardId, new Set(claims.map(subjectOf)));
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
    this.#disputes.dropOf(shardId, new Set());
  }

  /** An operator says that its process is stopped for good. Nobody waits for it any more. */
  giveUp(shardId: string): void {
    this.#givenUp.add(shardId);
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
    return this.#disputes.add({
      subject: subjectOf(claim),
      claim,
      claimants: [claim.shardId, owner].filter((id) => id !== ''),
      addresses: this.#disputedAddresses(claim, owner),
    });
  }

  /** An operator has said who is right. */
  decide(subject: string): void {
    this.#disputes.decide(subject);
  }

  disputeOn(subject: string): Dispute | undefined {
    return this.#disputes.on(subject);
  }

  disputes(): readonly Dispute[] {
    return this.#disputes.all();
  }

  /** How the shard came by machines that it has frozen. */
  donorHolds(shardId: string, machineIds: readonly string[]): DonorHolds {
    const answer = this.#answers.get(shardId);
    // Afterwards it acts on an assignment of this ledger, whatever it held before.
    if (answer === undefined) return this.isOver() ? 'by-rule' : 'unknown';
    return machineIds.some((id) => answer.overrides.has(id)) ? 'by-transfer' : 'by-rule';
  }

  /** By which transfer the shard says that it holds the machine. */
  heldTransferOf(shardId: string, machineId: string): string | undefined {
    return this.#answers.get(shardId)?.overrides.get(machineId);
  }

  /**
   * Overrides that the ledger got back and their owner does not hold, although it has answered: it
   * gave them up after the snapshot, or it is another of the same name, and by now the home may own
   * those ids again. That a transfer to it is still open says nothing: its shard may have been removed
   * since, and the home heard of it. None before every claim is merged, or the row of a machine that
   * another shard claims would go too; none while an older leader may still tell the owner to claim.
   */
  lapsedOverrides(): readonly OverrideRow[] {
    if (this.#isEarly() || this.#open.size > 0) return [];
    return this.#lapsed().filter(({ owner }) => this.#answers.get(owner)?.hasHeardUs === true);
  }

  isOver(): boolean {
    if (this.#isOver) return true;
    if (this.#isEarly() || this.#open.size > 0 || this.#disputes.all().length > 0) return false;
    const isWaiting = this.#unanswered().length > 0 || this.#unknown().length > 0;
    this.#isOver = !isWaiting && this.#lapsed().length === 0 && this.#doubtful().length === 0;
    if (this.#isOver) this.#lastRevision = this.#options.view.meta.assignmentRevision;
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
      addresses: this.#addresses.has(shardId) ? [...this.#addressesOf(shardId)] : ['*'],
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
   * Whether a shard that the ledger does not know may still turn up with something of the past. No
   * more once everybody has spoken and none remembers it: then it was removed in this ledger.
   */
  mayTurnUp(shardId: string): boolean {
    const { view } = this.#options;
    if (this.isOver() || view.shard(shardId) !== undefined || this.#givenUp.has(shardId)) {
      return false;
    }
    if (this.#isEarly() || this.#unanswered().length > 0) return true;
    return this.isNamed(shardId);
  }

  /** Not in the ledger, and another shard remembers it as an owner beside itself. */
  isNamed(shardId: string): boolean {
    return this.#unknown().some((unknown) => unknown.shardId === shardId);
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
    const own = [...this.#addressesOf(shardId), ...registered];
    return own.some((address) => recovering.has(address));
  }

  asksForHeld(shardId: string): boolean {
    return this.isRecovering(shardId);
  }

  holdsDomain(shardId: string, row: DomainRow): boolean {
    const isSince = revisionIn(this.#options.view.meta, row.revision) > this.#lastRevision;
    return !isSince && this.#answers.get(shardId)?.domains.has(textOf(row)) === true;
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

  /** Who said that it acts as home of the address; none after recovery, when the ledger knows. */
  homeClaimants(address: string): readonly string[] {
    if (this.isOver()) return [];
    return [...this.#answers].filter(([, { homes }]) => homes.has(address)).map(([id]) => id);
  }

  #isEarly(): boolean {
    const { nowMs, startedAtMs, minRecoveryMs = MIN_RECOVERY_MS } = this.#options;
    return nowMs() - startedAtMs < minRecoveryMs;
  }

  /** Own transfers aside: a recipient that answered before the commit cannot hold it yet. */
  #lapsed(): readonly OverrideRow[] {
    const { view, term } = this.#options;
    return view.overrides().filter(({ owner, machineId, transferId }) => {
      const answer = this.#answers.get(owner);
      return answer?.overrides.has(machineId) === false && !isOfTerm(transferId, term);
    });
  }

  /**
   * Shards that stand frozen with machines that are theirs only by a transfer. What became of those
   * machines nobody knows who is asked here, so they are given up (decide-lost.ts) before the ledger
   * is believed that still has them with this shard.
   */
  #doubtful(): readonly string[] {
    const { view, term } = this.#options;
    const isInDoubt = (shardId: string, { frozen, overrides }: Held): boolean =>
      [...frozen].some(([id, transferId]) => {
        const isTheirs = overrides.has(id) && (view.override(id)?.owner ?? shardId) === shardId;
        return isTheirs && !isOfTerm(transferId, term);
      });
    return [...this.#answers].flatMap(([id, held]) => (isInDoubt(id, held) ? [id] : []));
  }

  #unknown(): readonly { readonly shardId: string; readonly namedBy: readonly string[] }[] {
    const { view } = this.#options;
    const namedBy = new Map<string, string[]>();
    for (const [shardId, { others }] of this.#answers) {
      for (const other of others) {
        if (view.shard(other) !== undefined || this.#givenUp.has(other)) continue;
        namedBy.set(other, [...(namedBy.get(other) ?? []), shardId]);
      }
    }
    return [...namedBy].map(([shardId, names]) => ({ shardId, namedBy: names.toSorted() }));
  }

  #addressesOf(shardId: string): ReadonlySet<string> {
    return this.#addresses.get(shardId) ?? new Set();
  }

  #unanswered(): readonly string[] {
    const shards = this.#options.view.shards().map(({ id }) => id);
    return shards.filter((id) => !this.#answers.has(id));
  }

  #reopen(claim: Claim): void {
    if (judge(this.#options.view, this.#answers, claim).kind === 'settled') return;
    if (this.#disputes.isKnown(subjectOf(claim))) return;
    this.#open.set(keyOf(claim), claim);
  }

  /** What both dial; if nothing, whatever either dials: the claim is wrong somewhere. */
  #disputedAddresses(claim: Claim, owner: string): ReadonlySet<string> {
    const mine = this.#addressesOf(claim.shardId);
    if (claim.kind === 'provider') return new Set([claim.target.address, ...mine]);
    if (claim.kind === 'home') return new Set([claim.address]);
    const theirs = this.#addressesOf(owner);
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
  for (const domain of held.releasing) yield { kind: 'releasing', shardId, domain };
  for (const address of held.homes) yield { kind: 'home', shardId, address };
  for (const [machineId, transferId] of held.overrides) {
    yield { kind: 'override', shardId, machineId, transferId };
  }
}
