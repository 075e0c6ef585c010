// Roll-up ingest on the main thread (shard §5, steps 0, 2, 4 and 6): one ordered lane per cluster
// with a single pending slot, newest wins. The lane belongs to the cluster and not to the session,
// so that a reconnect cannot compare its digest while the old session's roll-up is still on its way
// to the table: it would be skipped as unchanged and the older one would stay.
//
// A roll-up equal to the last accepted one is acknowledged without decoding. Everything else goes
// undecoded to the sink. Refused: another cluster's id, bytes that are no roll-up; then nothing is
// acknowledged and the last good demand stays.
//
// Bound: one record per cluster, at most MAX_CLUSTERS; dropping one costs one extra decode.

import { AssertionError, type Clock, describeThrown, type Timers } from '@bigfleet/base';
import { type Logger, stableMessages } from '@bigfleet/telemetry';
import { AckFrames } from '../session/ack-frames.ts';
import type { AckEcho, AckStamp } from '../session/frame.ts';
import type { RollupMetrics } from '../session/metrics.ts';
import type { Session } from '../session/session.ts';
import { readEnvelope } from './digest.ts';
import { RefusedRollupLog } from './rollup-notes.ts';
import type { RollupSink, RollupVerdict } from './rollup-sink.ts';

const MAX_CLUSTERS = 10_000;
/** What the engine's guard believes; printed so that the on-call knows how long to wait. */
const ACCEPTED_AFTER = 3;

export interface RollupIntakeOptions {
  readonly runtime: { readonly clock: Clock; readonly timers: Timers };
  readonly logger: Logger;
  readonly metrics: RollupMetrics;
  readonly sink: RollupSink;
  readonly ackStamp: () => AckStamp;
  /** The table of this cluster changed: run a cycle. */
  readonly onApplied: (cluster: string) => void;
  readonly supervise: (work: Promise<void>) => void;
}

/** What the shard knows about a cluster's demand, for ListSessions. */
export interface DemandView {
  readonly firstRollupReceived: boolean;
  readonly rowCount: number;
  readonly heldCount: number;
  /** 0 when none was received. */
  readonly lastRollupUnixNanos: bigint;
}

interface Offer {
  readonly session: Session;
  readonly bytes: Uint8Array;
}

class Lane {
  readonly cluster: string;
  isBusy = false;
  pending: Offer | undefined;
  acceptedDigest: string | undefined;
  /** Counts forgets: a verdict from before one may not bring its digest back. */
  forgetCount = 0;
  firstRollupReceived = false;
  rowCount = 0;
  heldCount = 0;
  lastRollupUnixNanos = 0n;

  constructor(cluster: string) {
    this.cluster = cluster;
  }
}

export class RollupIntake {
  /** For the record of the next cycle. */
  readonly refused: RefusedRollupLog = new RefusedRollupLog();
  readonly #options: RollupIntakeOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #acks: AckFrames;

  constructor(options: RollupIntakeOptions) {
    this.#options = options;
    this.#acks = new AckFrames(options.ackStamp);
  }

  /** Returns at once; an older roll-up that nobody took yet is dropped. */
  offer(session: Session, bytes: Uint8Array): void {
    const lane = this.#lane(session.cluster);
    lane.pending = { session, bytes };
    if (lane.isBusy) return;
    lane.isBusy = true;
    this.#options.supervise(this.#work(lane));
  }

  /** An administrator ended the cluster's demand: the next roll-up is decoded whatever it is. */
  forget(cluster: string): void {
    const lane = this.#lanes.get(cluster);
    if (lane === undefined) return;
    lane.forgetCount++;
    lane.acceptedDigest = undefined;
    lane.rowCount = 0;
    this.#setHeld(lane, 0);
  }

  view(cluster: string): DemandView {
    const lane = this.#lanes.get(cluster) ?? new Lane(cluster);
    const { firstRollupReceived, rowCount, heldCount, lastRollupUnixNanos } = lane;
    return { firstRollupReceived, rowCount, heldCount, lastRollupUnixNanos };
  }

  /** The cluster has been away for long: its labelled series end. */
  dropSeries(cluster: string): void {
    this.#options.metrics.rejectedByCluster.remove(cluster);
    this.#options.metrics.quarantinedByCluster.remove(cluster);
  }

  async #work(lane: Lane): Promise<void> {
    try {
      for (let offer = lane.pending; offer !== undefined; offer = lane.pending) {
        lane.pending = undefined;
        await this.#process(lane, offer);
      }
    } finally {
      lane.isBusy = false;
    }
  }

  async #process(lane: Lane, { session, bytes }: Offer): Promise<void> {
    const envelope = await readEnvelope(this.#options.runtime.timers, bytes);
    if (!envelope.ok) {
      return this.#reject(lane, envelope.error, `the envelope of ${bytes.length} bytes`);
    }
    const { clusterId, digest } = envelope.value;
    if (clusterId !== '' && clusterId !== lane.cluster) {
      return this.#reject(lane, 'cluster_mismatch', `clusterId ${clusterId.slice(0, 64)}`);
    }
    if (digest === lane.acceptedDigest) return this.#unchanged(lane, session);
    const { forgetCount } = lane;
    const verdict = await this.#submit(lane, bytes, digest);
    if (verdict === undefined) return;
    const isCurrent = forgetCount === lane.forgetCount;
    this.#settle(lane, session, verdict, isCurrent ? digest : undefined);
  }

  /** A sink that is gone costs this roll-up its ack, no more; the operator sends another. */
  async #submit(lane: Lane, bytes: Uint8Array, digest: string): Promise<RollupVerdict | undefined> {
    try {
      return await this.#options.sink.submit(lane.cluster, bytes, digest);
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      const err = describeThrown(error);
      this.#options.logger.error('rollup hand-over failed', { cluster: lane.cluster, err });
      return undefined;
    }
  }

  #settle(lane: Lane, session: Session, verdict: RollupVerdict, digest: string | undefined): void {
    const { metrics, onApplied } = this.#options;
    switch (verdict.kind) {
      case 'rejected':
        return this.#reject(lane, verdict.code, verdict.detail);
      case 'held':
        metrics.rollups.held.inc();
        this.#noteHeld(lane, verdict);
        this.#setHeld(lane, verdict.consecutive);
        this.#received(lane);
        return this.#ack(session, 'rollup-held');
      case 'applied':
        metrics.rollups.applied.inc();
        this.#logConfirmed(lane, verdict);
        lane.acceptedDigest = digest;
        lane.rowCount = verdict.rows;
        this.#setHeld(lane, 0);
        this.#received(lane);
        session.hasAcceptedRollup = true;
        this.#ack(session, 'rollup');
        onApplied(lane.cluster);
    }
  }

  #unchanged(lane: Lane, session: Session): void {
    this.#options.metrics.rollups.unchanged.inc();
    this.#setHeld(lane, 0);
    this.#received(lane);
    this.#options.sink.unchanged(lane.cluster);
    session.hasAcceptedRollup = true;
    this.#ack(session, 'rollup');
  }

  #reject({ cluster }: Lane, code: string, detail: string): void {
    this.#options.metrics.rollups.rejected.inc();
    this.#options.metrics.rejectedByCluster.labels({ cluster }).inc();
    const { level, text } = stableMessages.rollupRejected;
    this.#options.logger.log(level, text, { cluster, code, err: `${code}: ${detail}` });
    this.refused.note(cluster, code, detail);
  }

  #noteHeld({ cluster }: Lane, held: Extract<RollupVerdict, { kind: 'held' }>): void {
    this.#options.logger.event(stableMessages.rollupQuarantined, {
      cluster,
      previous_rows: held.previousRows,
      new_rows: held.rows,
      held_consecutive: held.consecutive,
      accepted_after: ACCEPTED_AFTER,
    });
    const detail = `${held.rows} rows after ${held.previousRows}`;
    this.refused.note(cluster, 'rollup_quarantined', detail);
  }

  #logConfirmed({ cluster }: Lane, applied: Extract<RollupVerdict, { kind: 'applied' }>): void {
    if (applied.confirmedAfter === 0) return;
    this.#options.logger.event(stableMessages.quarantinedRollupAccepted, {
      cluster,
      previous_rows: applied.previousRows,
      new_rows: applied.rows,
      consecutive_reports: applied.confirmedAfter,
    });
  }

  #setHeld(lane: Lane, consecutive: number): void {
    if (lane.heldCount === consecutive) return;
    lane.heldCount = consecutive;
    const { quarantinedByCluster } = this.#options.metrics;
    quarantinedByCluster.labels({ cluster: lane.cluster }).set(consecutive);
  }

  #received(lane: Lane): void {
    lane.firstRollupReceived = true;
    lane.lastRollupUnixNanos = this.#options.runtime.clock.unixNanos();
  }

  #ack(session: Session, echo: AckEcho): void {
    session.deliver(this.#acks.of(echo));
  }

  #lane(cluster: string): Lane {
    const known = this.#lanes.get(cluster);
    if (known !== undefined) return known;
    if (this.#lanes.size >= MAX_CLUSTERS) this.#evict();
    const lane = new Lane(cluster);
    this.#lanes.set(cluster, lane);
    return lane;
  }

  /** The oldest that nobody works on; sessions are fewer than lanes, so one of them is free. */
  #evict(): void {
    for (const lane of this.#lanes.values()) {
      if (lane.isBusy) continue;
      this.#lanes.delete(lane.cluster);
      return;
    }
  }
}
