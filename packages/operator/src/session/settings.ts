// Every constant of the session in one place (kubernetes §2.1, §2.3, §2.4). Only the roll-up
// interval is a flag; the rest is here so that tests can make bounds small enough to reach.

import { maxMessageBytes } from '@bigfleet/wire';

export interface SessionSettings {
  readonly rollupIntervalMs: number;
  /**
   * Least time between roll-ups that a change of demand starts early. Undefined: the interval
   * alone, which is the deliberate posture of production (kubernetes §7, hop 2).
   */
  readonly onChangeSpacingMs: number | undefined;
  readonly backoffInitialMs: number;
  readonly backoffMaxMs: number;
  /** From the dial to the shard's hello acknowledgement. */
  readonly helloTimeoutMs: number;
  readonly outboxCapacity: number;
  /** Cluster-bound handlers at once. 256 was slower, unbounded far slower. */
  readonly dispatchConcurrency: number;
  readonly acknowledgeConcurrency: number;
  /** Distinct machines or hints that may wait: a shard's whole inventory. */
  readonly maxWaitingKeys: number;
  /** One write to the cluster, the port's own retries included. */
  readonly handlerTimeoutMs: number;
  /** One status patch. */
  readonly acknowledgeTimeoutMs: number;
  /** A sweep may delete many objects. */
  readonly sweepTimeoutMs: number;
  /** No sweep of hints earlier after the first applied roll-up: the catch-all comes a cycle later. */
  readonly hintSweepDelayMs: number;
  /** In-flight writes at shutdown. */
  readonly stopGraceMs: number;
  /** Whole roll-up frame; the transport refuses more, and would end the session over it. */
  readonly maxRollupBytes: number;
}

export const defaultSessionSettings: SessionSettings = {
  rollupIntervalMs: 10_000,
  onChangeSpacingMs: undefined,
  backoffInitialMs: 500,
  backoffMaxMs: 30_000,
  helloTimeoutMs: 30_000,
  outboxCapacity: 256,
  dispatchConcurrency: 32,
  acknowledgeConcurrency: 16,
  maxWaitingKeys: 500_000,
  handlerTimeoutMs: 60_000,
  acknowledgeTimeoutMs: 30_000,
  sweepTimeoutMs: 300_000,
  hintSweepDelayMs: 30_000,
  stopGraceMs: 5_000,
  maxRollupBytes: maxMessageBytes,
};

/** Neither `rollup` nor `rollup-held` for so many intervals: the session is dead. */
export const SILENT_INTERVALS = 3;

/** Nor earlier than this, however short the interval: a busy shard is not a dead one. */
export const MIN_SILENCE_MS = 10_000;

/** A shard without extensions that never answered a roll-up by then counts as one that never does. */
export const FALLBACK_INTERVALS = 2;

/**
 * Roll-ups on the way at once, or as many as fit into the silence that a session survives; one more
 * means that answers went missing, and a new session heals it.
 */
export const MAX_UNANSWERED_ROLLUPS = 5;
