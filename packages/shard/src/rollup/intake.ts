// The roll-up's way in on the main thread (shard §5, steps 0, 4 and 6): one ordered lane per cluster
// with a single pending slot, newest wins. The lane belongs to the cluster and not to the session, so
// that a reconnect cannot compare its digest while the old session's roll-up is still on its way to the
// table: it would be skipped as unchanged and the older one would stay.
//
// A roll-up equal to the last accepted one is acknowledged without decoding. Every other goes to the
// engine as bytes, where admission.ts judges it; this file judges nothing. A refused roll-up is not
// acknowledged, and the last good demand stays.
//
// Bound: one lane per cluster, at most MAX_CLUSTERS; dropping one costs one extra decode.

import { AssertionError, type Clock, describeThrown, type Timers } from '@bigfleet/base';
import type { Logger, MetricRegistry } from '@bigfleet/telemetry';
import { AckFrames, type AckEcho, type AckStamp } from '../session/frame.ts';
import type { Session } from '../session/session.ts';
import type { RollupEngine, RollupVerdict } from './admission.ts';
import type { AppliedDemand } from './demand-listing.ts';
import { rollupDigest } from './digest.ts';
import { RollupNotes } from './rollup-notes.ts';

const MAX_CLUSTERS = 10_000;

export interface RollupIntakeOptions {
  readonly runtime: { readonly clock: Clock; readonly timers: Timers };
  readonly engine: RollupEngine;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
  /** Rail 2, as of now. */
  readonly isGuarded: () => boolean;
  /** For acknowledgements; forensic. */
  readonly ackStamp: () => AckStamp;
  /**
   * The cluster's demand is in the table: note it and run a cycle. In the order of the verdicts; must
   * not wait.
   */
  readonly demandApplied: (cluster: string, demand: AppliedDemand | undefined) => void;
  /** Takes over background work; its rejection is a bug and ends the process. */
  readonly supervise: (component: string, work: Promise<void>) => void;
}

/** What the shard knows about a cluster's demand as of now, for ListSessions. */
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

class Lane implements DemandView {
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
  readonly notes: RollupNotes;
  readonly #options: RollupIntakeOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #acks: AckFrames;

  constructor(options: RollupIntakeOptions) {
    this.#options = options;
    this.notes = new RollupNotes(options.logger, options.registry);
    this.#acks = new AckFrames(options.ackStamp);
  }

  /** Returns at once; an older roll-up that still waits in the lane is dropped. */
  offer(session: Session, bytes: Uint8Array): void {
    const lane = this.#lane(session.cluster);
    lane.pending = { session, bytes };
    if (lane.isBusy) return;
    lane.isBusy = true;
    this.#options.supervise('rollup intake', this.#work(lane));
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
    return this.#lanes.get(cluster) ?? new Lane(cluster);
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
    const { runtime, engine, isGuarded } = this.#options;
    const { cluster } = lane;
    const digest = await rollupDigest(runtime.timers, bytes);
    if (digest === lane.acceptedDigest) return this.#unchanged(lane, session);
    const { forgetCount } = lane;
    let verdict: RollupVerdict;
    try {
      verdict = await engine.applyRollup({ cluster, bytes, isGuarded: isGuarded() });
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      return this.notes.lost(cluster, describeThrown(error));
    }
    // Without another await: the ledgers hear of verdicts and forgets in the engine's order.
    const isCurrent = forgetCount === lane.forgetCount;
    this.#settle(lane, session, verdict, isCurrent ? digest : undefined);
  }

  #settle(lane: Lane, session: Session, verdict: RollupVerdict, digest: string | undefined): void {
    const { notes } = this;
    const { cluster } = lane;
    switch (verdict.kind) {
      case 'rejected':
        return notes.rejected(cluster, verdict.code, verdict.detail);
      case 'held':
        notes.held(cluster, verdict);
        this.#received(lane, verdict.consecutive);
        return this.#ack(session, 'rollup-held');
      case 'applied':
        notes.applied(cluster, verdict);
        lane.acceptedDigest = digest;
        lane.rowCount = verdict.rows;
        this.#received(lane, 0);
        session.hasAcceptedRollup = true;
        this.#ack(session, 'rollup');
        this.#options.demandApplied(cluster, verdict.demand);
    }
  }

  #unchanged(lane: Lane, session: Session): void {
    this.notes.unchanged();
    this.#received(lane, 0);
    this.#options.engine.markReported(lane.cluster);
    session.hasAcceptedRollup = true;
    this.#ack(session, 'rollup');
  }

  #received(lane: Lane, heldCount: number): void {
    this.#setHeld(lane, heldCount);
    lane.firstRollupReceived = true;
    lane.lastRollupUnixNanos = this.#options.runtime.clock.unixNanos();
  }

  #setHeld(lane: Lane, consecutive: number): void {
    if (lane.heldCount === consecutive) return;
    lane.heldCount = consecutive;
    this.notes.quarantined(lane.cluster, consecutive);
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

  /** The oldest lane that is idle; sessions are fewer than lanes, so one of them is. */
  #evict(): void {
    for (const lane of this.#lanes.values()) {
      if (lane.isBusy) continue;
      this.#lanes.delete(lane.cluster);
      return;
    }
  }
}
