// The shard's client of the coordinator (coordinator §6.2): reports at once and then at an interval,
// one at a time, each with a deadline; what the answer asks for is made durable, carried out, and
// acknowledged with a later report. A task of its own: nothing in the shard waits for it, and every
// failure of it changes nothing in the shard.
//
// Believed is only what comes under a term that is not older than any heard before, and that is on
// disk. An answer that is not believed, or was not for us, gives the acknowledgements back.

import { BigFleetError, describeThrown, type Runtime, sleep } from '@bigfleet/base';
import type { DurableFile, ShardControl } from '@bigfleet/shard';
import { type Logger, type MetricRegistry, stableMessages } from '@bigfleet/telemetry';
import { type Channel, Coordinator, createClient, type ReportAck, RpcError } from '@bigfleet/wire';
import { ClusterConflicts, type CoordClientMetrics, createCoordClientMetrics } from './metrics.ts';
import { type InstructAckInit, AckQueue } from './instructions/acks.ts';
import { InstructionWorker, stackOf } from './instructions/worker.ts';
import type { Endpoint, Resolve } from './leader/endpoint.ts';
import { LeaderCaller } from './leader/leader-caller.ts';
import { openTermKeeper, type TermKeeper } from './term-keeper.ts';
import { assignmentFromWire } from './wire/orders.ts';
import { reportBody } from './wire/report.ts';

export const DEFAULT_INTERVAL_MS = 10_000;
const MAX_REPORT_MS = 10_000;
/** "No leader" is said this often; other failures each time. */
const NO_LEADER_LOG_MS = 60_000;

export interface CoordClientOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
  readonly control: ShardControl;
  /** As configured: a name with one or several addresses behind it. */
  readonly coordinatorAddress: string;
  /** Where others dial this shard; empty is allowed. */
  readonly shardAddress: string;
  readonly intervalMs?: number;
  /** `<data-dir>/coordinator-term`. */
  readonly termFile: DurableFile;
  readonly resolve: Resolve;
  /** Under TLS it demands `bigfleet://admin` of the server (security §3.2). */
  readonly connect: (endpoint: Endpoint) => Channel;
}

/** Rejects when the stored term cannot be understood. Does not wait for any coordinator. */
export async function startCoordClient(options: CoordClientOptions): Promise<CoordClient> {
  return new CoordClient(options, await openTermKeeper(options.termFile));
}

export class CoordClient {
  /** Settles after `stop`, when the last write is done. Nobody has to wait for it. */
  readonly stopped: Promise<void>;
  readonly #options: CoordClientOptions;
  readonly #logger: Logger;
  readonly #terms: TermKeeper;
  readonly #metrics: CoordClientMetrics;
  readonly #leader: LeaderCaller;
  readonly #acks: AckQueue;
  readonly #worker: InstructionWorker;
  readonly #conflicts: ClusterConflicts;
  readonly #stop = new AbortController();
  #cycle = 0n;
  #mustSendHeld = false;
  #lastNoLeaderLogMs = Number.NEGATIVE_INFINITY;

  constructor(options: CoordClientOptions, terms: TermKeeper) {
    const { runtime, registry, control, coordinatorAddress, resolve, connect } = options;
    this.#options = options;
    this.#terms = terms;
    this.#logger = options.logger.child({ component: 'coordclient' });
    this.#metrics = createCoordClientMetrics(registry);
    this.#acks = new AckQueue(this.#metrics.droppedAcks);
    this.#leader = new LeaderCaller({ runtime, address: coordinatorAddress, resolve, connect });
    this.#conflicts = new ClusterConflicts(this.#logger, this.#metrics.conflicts);
    this.#worker = new InstructionWorker({
      control,
      acks: this.#acks,
      term: () => terms.term,
      logger: this.#logger,
      signal: this.#stop.signal,
    });
    this.stopped = this.#run();
  }

  /** The highest term heard; durable. */
  get term(): bigint {
    return this.#terms.term;
  }

  get #intervalMs(): number {
    return this.#options.intervalMs ?? DEFAULT_INTERVAL_MS;
  }

  /** At once: a call under way is cancelled. Idempotent. */
  stop(): void {
    this.#stop.abort(new BigFleetError('cancelled', 'the coordinator client is stopped'));
  }

  async #run(): Promise<void> {
    const { runtime, coordinatorAddress: coord } = this.#options;
    const { signal } = this.#stop;
    const interval = `${this.#intervalMs / 1_000}s`;
    this.#logger.event(stableMessages.coordClientStarted, { coord, interval });
    while (!signal.aborted) {
      const startMs = runtime.clock.monotonicMs();
      await this.#tick();
      const leftMs = this.#intervalMs - (runtime.clock.monotonicMs() - startMs);
      if (!signal.aborted) await pause(runtime, leftMs, signal);
    }
    this.#leader.forgetLeader();
    await this.#worker.idle;
    this.#logger.event(stableMessages.coordClientStopped, { coord });
  }

  /** Never rejects: a report that fails is a line in the log and another try. */
  async #tick(): Promise<void> {
    const acks = this.#acks.take();
    try {
      await this.#durably('empty domains', this.#options.control.closeEmptyDomains());
      const reply = await this.#report(acks);
      const verdict = await this.#judge(reply);
      this.#metrics.reported(verdict);
      if (verdict === 'success') return await this.#follow(reply);
    } catch (error) {
      this.#failed(error);
    }
    this.#acks.putBack(acks);
  }

  #report(acks: readonly InstructAckInit[]): Promise<ReportAck> {
    const { runtime, control, shardAddress } = this.#options;
    const body = reportBody(control, { isHeldAsked: this.#mustSendHeld });
    const deadlineMs = Math.min(this.#intervalMs, MAX_REPORT_MS);
    return this.#leader.call(deadlineMs, this.#stop.signal, (channel, signal) => {
      // A number of its own for each attempt: one that was heard and not answered is older then.
      this.#cycle += 1n;
      const report = {
        ...body,
        cycle: this.#cycle,
        timestampUnixNanos: runtime.clock.unixNanos(),
        instructionAcks: [...acks],
        shardAddress,
        observedCoordinatorTerm: this.#terms.term,
      };
      return createClient(Coordinator, channel).reportShard(report, { signal });
    });
  }

  async #judge(reply: ReportAck): Promise<'success' | 'stale_term' | 'not_acknowledged'> {
    const { coordinatorTerm: term, instructions } = reply;
    const isNobodys = term <= 0n && instructions.length > 0;
    if (isNobodys || (await this.#terms.accept(term)) === 'stale') {
      const err = `term ${term} is older than ${this.#terms.term}`;
      const coord = this.#leader.leaderAddress ?? this.#options.coordinatorAddress;
      this.#logger.event(stableMessages.termValidationFailed, { coord, err });
      this.#leader.forgetLeader();
      return 'stale_term';
    }
    return reply.acknowledged ? 'success' : 'not_acknowledged';
  }

  /** The acknowledgements are delivered. Each part by itself: one that fails is asked for again. */
  async #follow(reply: ReportAck): Promise<void> {
    const { control } = this.#options;
    const { assignment, retiredTransferIds, clusterConflicts, instructions } = reply;
    this.#mustSendHeld = reply.sendHeld;
    this.#conflicts.replace(clusterConflicts);
    if (assignment === undefined) control.answeredWithoutAssignment();
    else {
      const applied = control.applyAssignment(assignmentFromWire(assignment));
      // Instructions follow what the assignment says: without it they wait to be delivered again.
      if (!(await this.#durably('assignment', applied))) return;
    }
    if (retiredTransferIds.length > 0) {
      await this.#durably('retired transfers', control.retireTransfers(retiredTransferIds));
    }
    this.#worker.take(instructions);
  }

  async #durably(what: string, work: Promise<void>): Promise<boolean> {
    try {
      await work;
      return true;
    } catch (error) {
      if (!(error instanceof BigFleetError)) throw error;
      this.#logger.error('ownership could not be made durable', { what, err: error.message });
      return false;
    }
  }

  #failed(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#metrics.reported('error');
    const isNoLeader = error instanceof BigFleetError && error.code === 'leader_not_found';
    const { coordinatorAddress: coord, runtime } = this.#options;
    const nowMs = runtime.clock.monotonicMs();
    if (isNoLeader) {
      if (nowMs - this.#lastNoLeaderLogMs < NO_LEADER_LOG_MS) return;
      this.#lastNoLeaderLogMs = nowMs;
    }
    const isKnown = error instanceof BigFleetError || error instanceof RpcError;
    const err = isKnown ? describeThrown(error) : stackOf(error);
    this.#logger.event(stableMessages.reportShardFailed, { coord, err });
  }
}

async function pause(runtime: Runtime, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(runtime, Math.max(0, ms), signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
