// ReportShard on the leader, in the order of coordinator §6.1: is it new, is the shard known, what
// does it say, what does it get. One report per shard at a time. Nothing soft changes before the
// shard is durably known with this epoch, and every answer leaves only after a look at the
// leadership that began when the answer was complete (coordinator §3.3). Leader check and identity
// come before, from the caller.

import { parseShardId } from '@bigfleet/base';
import type { InstructAck, ReportAck, ShardReport, TransferStatus } from '@bigfleet/wire';
import type { Assignments } from '../assignment/assignments.ts';
import type { PendingInstruction } from '../instructions/instruction-queue.ts';
import { callerLedger, type ApplyResult, type Ledger } from '../ledger/ledger.ts';
import { outcomeOf, type Refused, refused } from '../ledger/outcome.ts';
import type { OwnershipWatch } from '../registry/ownership-watch.ts';
import { homesToSet } from '../assignment/provider-homes.ts';
import type { ClusterBindings } from './cluster-bindings.ts';
import { dialledProviders } from '../reports/dialled-providers.ts';
import { closedReleases } from '../assignment/domain-gate.ts';
import { pictureOf } from '../reports/soft-state.ts';
import type { DeskParts, ReportDeskOptions } from './report-desk.ts';
import type { TermWatch } from './term-watch.ts';
import type { CommandBody } from '../state/commands.ts';

/**
 * What report handling needs of the sagas (coordinator §9.6). Every call is synchronous: a saga notes
 * what it heard and goes on in its own loop, so that a slow commit never holds a report.
 */
export interface TransferPort {
  /** Once per settled or failed ack, after the queue changed; never throws. */
  onAck(pending: PendingInstruction, ack: InstructAck): void;
  /** Every accepted report, also with no status: silence about a transfer is news too. */
  onStatuses(shardId: string, statuses: readonly TransferStatus[]): void;
  /** Of the transfers that this shard just named: those whose record is gone or finished. */
  retiredOf(shardId: string, statuses: readonly TransferStatus[]): readonly string[];
}

export interface ReportHandlerOptions extends Omit<ReportDeskOptions, 'sagas'>, DeskParts {
  readonly assignments: Assignments;
  readonly transfers: TransferPort;
  readonly clusters: ClusterBindings;
  readonly ownership: OwnershipWatch;
  readonly terms: TermWatch;
  /** Drops everything soft about a shard. */
  readonly forgetShard: (shardId: string) => void;
}

export type ReportOutcome = { readonly kind: 'ack'; readonly ack: ReportAck } | Refused;

export class ReportHandler {
  readonly #options: ReportHandlerOptions;
  readonly #inFlight = new Set<string>();

  constructor(options: ReportHandlerOptions) {
    this.#options = options;
  }

  /** `call` is the shard's own wait: its deadline bounds what is committed for it. */
  async handle(report: ShardReport, call?: AbortSignal): Promise<ReportOutcome> {
    const { shardId } = report;
    const id = parseShardId(shardId);
    if (!id.ok) return refused('INVALID_ARGUMENT', `coordinator: shard_id: ${id.error.problem}`);
    if (this.#inFlight.has(shardId)) {
      return refused('ABORTED', `coordinator: a report of ${shardId} is being handled`);
    }
    this.#inFlight.add(shardId);
    try {
      const outcome = await this.#handleOne(report, call);
      this.#count(outcome);
      return outcome;
    } finally {
      this.#inFlight.delete(shardId);
    }
  }

  async #handleOne(report: ShardReport, call: AbortSignal | undefined): Promise<ReportOutcome> {
    const { terms, ledger, soft } = this.#options;
    const doubt = await terms.check(report.shardId, report.observedCoordinatorTerm);
    if (doubt !== undefined) return doubt;
    if (!this.#isNews(report)) return this.#confirmed(this.#emptyAck(false));
    const budget = new CommandBudget(callerLedger(ledger, call));
    const failure = (await this.#register(report, budget)) ?? (await this.#fence(report, budget));
    if (failure !== undefined) return failure;
    const isStaleTerm = this.#takeIn(report);
    if (isStaleTerm) {
      const deposed = await terms.verify();
      if (deposed !== undefined) return deposed;
    }
    const clusterConflicts = await this.#options.clusters.onReport(report, budget);
    for (const domain of closedReleases({ view: ledger.state, soft }, report)) {
      await budget.apply({ kind: 'DomainReleased', domain, shard: report.shardId });
    }
    for (const set of homesToSet(this.#options, report)) await budget.apply(set);
    if (ledger.state.shard(report.shardId) === undefined) {
      this.#options.forgetShard(report.shardId);
      return refused('ABORTED', `coordinator: shard ${report.shardId} was removed meanwhile`);
    }
    return this.#confirmed({ ...this.#fullAck(report), clusterConflicts: [...clusterConflicts] });
  }

  /** A zombie must not paint over its successor, and a late report not over a newer one. */
  #isNews(report: ShardReport): boolean {
    const { ledger, soft, log } = this.#options;
    const { shardId, shardEpoch, cycle } = report;
    const maxEpoch = ledger.state.shard(shardId)?.maxEpoch ?? 0n;
    if (shardEpoch < maxEpoch) {
      log.error('stale shard epoch', { shard: shardId, epoch: shardEpoch, max_epoch: maxEpoch });
      return false;
    }
    return soft.isNewer(shardId, shardEpoch, cycle);
  }

  async #register(report: ShardReport, budget: CommandBudget): Promise<Refused | undefined> {
    const { ledger, runtime, forgetShard } = this.#options;
    if (ledger.state.shard(report.shardId) !== undefined) return undefined;
    // Its removal may have been committed with an outcome that this leader never heard.
    forgetShard(report.shardId);
    const result = await budget.apply({
      kind: 'AddShard',
      id: report.shardId,
      address: report.shardAddress,
      registeredAtMs: Number(runtime.clock.unixNanos() / 1_000_000n),
    });
    const isLostRace = result.kind === 'refused' && result.refusal.code === 'shard-exists';
    return isLostRace ? undefined : failureOf(result, 'register shard');
  }

  async #fence(report: ShardReport, budget: CommandBudget): Promise<Refused | undefined> {
    const { shardId: shard, shardEpoch: epoch } = report;
    const row = this.#options.ledger.state.shard(shard);
    if (row !== undefined && epoch <= row.maxEpoch) return undefined;
    const result = await budget.apply({ kind: 'RecordShardEpoch', shard, epoch });
    return failureOf(result, 'record shard epoch');
  }

  /** The soft part, without a wait. True when an ack says that the shard knows a newer term. */
  #takeIn(report: ShardReport): boolean {
    const { soft, queue, transfers, recovery, ownership, runtime } = this.#options;
    const { shardId } = report;
    soft.replace(pictureOf(report, soft.picture(shardId), runtime.clock));
    ownership.onReport();
    this.#noteUnregistered(report);
    let isStaleTerm = false;
    for (const ack of report.instructionAcks) {
      const settled = queue.settle(shardId, ack);
      if (settled === undefined) continue;
      isStaleTerm ||= settled.effect === 'stale';
      transfers.onAck(settled.pending, ack);
    }
    transfers.onStatuses(shardId, report.transfers);
    recovery.onReport(report);
    return isStaleTerm;
  }

  #noteUnregistered(report: ShardReport): void {
    const { ledger, observer } = this.#options;
    const registered = new Set(ledger.state.providers().map(({ address }) => address));
    const isUnregistered = dialledProviders(report).some(
      ({ address, source }) => address !== '' && source !== 'fake' && !registered.has(address),
    );
    observer.onUnregisteredProvider(report.shardId, isUnregistered);
  }

  #emptyAck(acknowledged: boolean): ReportAck {
    return {
      $typeName: 'bigfleet.v1alpha1.ReportAck',
      coordinatorTerm: this.#options.ledger.term,
      acknowledged,
      instructions: [],
      retiredTransferIds: [],
      clusterConflicts: [],
      sendHeld: false,
    };
  }

  #fullAck(report: ShardReport): ReportAck {
    const { queue, assignments, soft, recovery, transfers, observer } = this.#options;
    const { shardId } = report;
    const assignment = assignments.forReport(report);
    if (assignment !== undefined) soft.tell(report, assignment);
    const sendHeld = recovery.isRecovering(shardId);
    if (sendHeld) soft.ask(shardId, report.shardEpoch);
    observer.onPendingInstructions(shardId, queue.count(shardId));
    return {
      ...this.#emptyAck(true),
      instructions: queue.pending(shardId).map(({ instruction }) => instruction),
      assignment,
      retiredTransferIds: [...transfers.retiredOf(shardId, report.transfers)],
      sendHeld,
    };
  }

  async #confirmed(ack: ReportAck): Promise<ReportOutcome> {
    return (await this.#options.terms.verify()) ?? { kind: 'ack', ack };
  }

  #count(outcome: ReportOutcome): void {
    const { observer } = this.#options;
    if (outcome.kind === 'ack') observer.onReport(outcome.ack.acknowledged ? 'accepted' : 'stale');
    else if (outcome.status === 'FAILED_PRECONDITION') observer.onReport('not_leader');
  }
}

function failureOf(
  result: ApplyResult | { readonly kind: 'spent' },
  what: string,
): Refused | undefined {
  if (result.kind === 'spent') return refused('UNAVAILABLE', `coordinator: ${what}: no room`);
  const outcome = outcomeOf(result);
  if (outcome.kind === 'done') return undefined;
  if (result.kind === 'not-leader') return outcome;
  return refused('UNAVAILABLE', `coordinator: ${what}: ${outcome.message}`);
}

const COMMANDS_PER_REPORT = 8;

/**
 * Bounds the commands that one report may commit (coordinator §6.1). The rest waits for the next
 * report of the same shard, so that a mass restart cannot starve admin commands. A command that could
 * not be written spends the budget: the next ones would meet the same trouble, and the reply must not
 * wait.
 */
export class CommandBudget {
  readonly #ledger: Ledger;
  #left = COMMANDS_PER_REPORT;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  get isSpent(): boolean {
    return this.#left === 0;
  }

  /** `spent`: not attempted. */
  async apply(body: CommandBody): Promise<ApplyResult | { readonly kind: 'spent' }> {
    if (this.isSpent) return { kind: 'spent' };
    this.#left--;
    const result = await this.#ledger.apply(body);
    if (result.kind === 'busy' || result.kind === 'unavailable' || result.kind === 'not-leader') {
      this.#left = 0;
    }
    return result;
  }
}
