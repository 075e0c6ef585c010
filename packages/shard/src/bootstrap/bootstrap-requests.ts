// Pulling bootstrap blobs from operators (shard §4.4). A request belongs to its cluster, not to a
// session, so it survives a reconnect: the successor gets it again under the same id, with the same
// deadline. Every pull ends: with a blob, a refusal, the deadline, or the caller's signal.
//
// Refused in silence: an answer to an id that is not pending (late, or answered already). Refused
// and counted: an answer from a session of another cluster than the one that was asked. Blob bytes
// and the operator's error text never enter a log.
//
// Bounds: one pending request per execution under way; of them so many at an operator at once, and
// the others wait for their turn, within the same deadline.

import { type Runtime, type Timer, type TimerWheel, assert } from '@bigfleet/base';
import {
  B16cs,
  type Counter,
  type Histogram,
  type MetricRegistry,
  type SampledMessage,
  Secret,
} from '@bigfleet/telemetry';
import type { BootstrapBlobResponse } from '@bigfleet/wire';
import { wireRequirements } from '../engine-host/wire-values.ts';
import type { BlobOrder } from '../execute/ports.ts';
import { type ShardFrame, newFrameId } from '../session/frame.ts';
import type { SessionMetrics } from '../session/metrics.ts';
import type { OperatorSession } from '../session/session.ts';
import type { SessionTable } from '../session/session-table.ts';
import { AskingWindow } from './asking-window.ts';
import { HoldOffs } from './hold-off.ts';

const BOOTSTRAP_TIMEOUT_MS = 30_000;
/** Far above any execute concurrency: reaching it is a leak. */
const MAX_PENDING = 65_536;
/** At one operator: it holds 256 answers, and what it drops is only learned from the deadline. */
const MAX_ASKED_AT_ONCE = 200;
/** Most pulls that wait have the deadline of the lost one: those that are left after it are asked. */
const ADVANCE_AFTER_LOSS_MS = 100;
/** A century: the largest lifetime that still is a number of milliseconds we can add. */
const MAX_TTL_SECONDS = 3_155_760_000n;

/** A refusal holds the profile of the fingerprint off. */
export interface BootstrapPull extends BlobOrder {
  /** The action's own deadline. */
  readonly signal: AbortSignal;
}

export type BootstrapOutcome =
  | { readonly kind: 'blob'; readonly blob: BootstrapBlob }
  /** The operator answered `error`: a shortfall, and the profile is held off. */
  | { readonly kind: 'refused' }
  /** Refused lately; the operator was not asked. */
  | { readonly kind: 'held_off'; readonly remainingMs: number }
  /** No operator to ask, now or when the deadline passed. */
  | { readonly kind: 'no_session' }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'cancelled' };

export interface BootstrapRequestsOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'entropy'>;
  readonly wheel: TimerWheel;
  readonly sessions: SessionTable;
  readonly registry: MetricRegistry;
  readonly framesDropped: SessionMetrics['framesDropped'];
  readonly ignored: SampledMessage<'cluster' | 'reason', 'detail'>;
  readonly timeoutMs?: number | undefined;
}

interface Pending {
  readonly id: string;
  readonly pull: BootstrapPull;
  /** Undefined while it waits for its turn. */
  sentAtMs: number | undefined;
  readonly timer: Timer;
  readonly settle: (outcome: BootstrapOutcome) => void;
}

export class BootstrapRequests {
  readonly holdOffs: HoldOffs;
  readonly #options: BootstrapRequestsOptions;
  readonly #pending = new Map<string, Pending>();
  readonly #window = new AskingWindow<Pending>(MAX_ASKED_AT_ONCE);
  /** By cluster: a turn that follows a loss. */
  readonly #advances = new Map<string, Timer>();
  readonly #requestSeconds: Histogram;
  readonly #reissued: Counter;

  constructor(options: BootstrapRequestsOptions) {
    this.#options = options;
    this.holdOffs = new HoldOffs(options.runtime.clock);
    this.#requestSeconds = options.registry.histogram({
      name: 'bigfleet_shard_request_bootstrap_seconds',
      help: 'One BootstrapRequest round trip over the stream, answered or not.',
      bounds: B16cs,
    });
    this.#reissued = options.registry.counter({
      name: 'bigfleet_shard_bootstrap_reissued_total',
      help: 'Bootstrap requests sent again to an operator that reconnected.',
    });
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  pull(pull: BootstrapPull): Promise<BootstrapOutcome> {
    const { cluster, fingerprint, signal } = pull;
    if (signal.aborted) return Promise.resolve({ kind: 'cancelled' });
    const remainingMs = this.holdOffs.remainingMs(cluster, fingerprint);
    if (remainingMs > 0) return Promise.resolve({ kind: 'held_off', remainingMs });
    const session = this.#options.sessions.sessionOf(cluster);
    if (session === undefined) return Promise.resolve({ kind: 'no_session' });
    return new Promise((resolve) => {
      this.#window.enter(cluster, this.#register(pull, resolve));
      this.#advance(session);
    });
  }

  /** From the fast lane of a session. */
  respond(session: OperatorSession, response: BootstrapBlobResponse): void {
    const pending = this.#pending.get(response.requestId);
    if (pending === undefined) return;
    const { cluster, fingerprint } = pending.pull;
    if (cluster !== session.cluster) return this.#dropForeign(session);
    if (response.error === '') {
      this.holdOffs.succeeded(cluster, fingerprint);
      pending.settle({ kind: 'blob', blob: this.#blobOf(response) });
    } else {
      this.holdOffs.refused(cluster, fingerprint);
      pending.settle({ kind: 'refused' });
    }
    this.#advance(session);
  }

  /** A session was installed: its operator is asked again for every pull that is still open. */
  reissue(session: OperatorSession): void {
    for (const pending of this.#window.askedOf(session.cluster)) {
      this.#reissued.inc();
      session.deliver(requestFrame(pending));
    }
    this.#advance(session);
  }

  /** The shard stops: every open pull is cancelled. */
  stop(): void {
    for (const pending of this.#pending.values()) pending.settle({ kind: 'cancelled' });
    for (const timer of this.#advances.values()) timer.cancel();
    this.#advances.clear();
  }

  #advance(session: OperatorSession): void {
    for (const pending of this.#window.advance(session.cluster)) {
      pending.sentAtMs = this.#options.runtime.clock.monotonicMs();
      session.deliver(requestFrame(pending));
    }
  }

  /** Not at once: those that wait for the same deadline would all be sent, only to be given up. */
  #advanceLater(cluster: string): void {
    if (this.#advances.has(cluster)) return;
    const { wheel, sessions } = this.#options;
    const timer = wheel.after(ADVANCE_AFTER_LOSS_MS, () => {
      this.#advances.delete(cluster);
      const session = sessions.sessionOf(cluster);
      if (session !== undefined) this.#advance(session);
    });
    this.#advances.set(cluster, timer);
  }

  #register(pull: BootstrapPull, resolve: (outcome: BootstrapOutcome) => void): Pending {
    assert(this.#pending.size < MAX_PENDING, 'bootstrap requests leak');
    const { runtime, wheel, timeoutMs = BOOTSTRAP_TIMEOUT_MS } = this.#options;
    const id = newFrameId(runtime.entropy);
    const lose = (outcome: BootstrapOutcome): void => {
      pending.settle(outcome);
      this.#advanceLater(pull.cluster);
    };
    const onAbort = (): void => lose({ kind: 'cancelled' });
    const pending: Pending = {
      id,
      pull,
      sentAtMs: undefined,
      timer: wheel.after(timeoutMs, () => lose(this.#unanswered(pull.cluster))),
      settle: (outcome) => {
        if (!this.#pending.delete(id)) return;
        this.#window.leave(pull.cluster, pending);
        pending.timer.cancel();
        pull.signal.removeEventListener('abort', onAbort);
        this.#observe(pending);
        resolve(outcome);
      },
    };
    pull.signal.addEventListener('abort', onAbort, { once: true });
    this.#pending.set(id, pending);
    return pending;
  }

  #unanswered(cluster: string): BootstrapOutcome {
    const isConnected = this.#options.sessions.sessionOf(cluster) !== undefined;
    return { kind: isConnected ? 'timeout' : 'no_session' };
  }

  /** A round trip: a pull that was never asked for made none. */
  #observe({ sentAtMs }: Pending): void {
    if (sentAtMs === undefined) return;
    const elapsedMs = this.#options.runtime.clock.monotonicMs() - sentAtMs;
    this.#requestSeconds.observe(elapsedMs / 1_000);
  }

  #blobOf({ userData, ttlSeconds }: BootstrapBlobResponse): BootstrapBlob {
    const receivedAtMs = this.#options.runtime.clock.monotonicMs();
    const ttlMs = Number(ttlSeconds < MAX_TTL_SECONDS ? ttlSeconds : MAX_TTL_SECONDS) * 1_000;
    const expiresAtMs = ttlMs > 0 ? receivedAtMs + ttlMs : undefined;
    return { userData: new Secret(userData), receivedAtMs, expiresAtMs };
  }

  #dropForeign({ cluster }: OperatorSession): void {
    this.#options.framesDropped.foreign_bootstrap_response.inc();
    this.#options.ignored.log({ cluster, reason: 'foreign_bootstrap_response' });
  }
}

function requestFrame({ id, pull }: Pending): ShardFrame {
  const requirements = wireRequirements(pull.requirements);
  return {
    payload: {
      case: 'bootstrapRequest',
      value: { requestId: id, requirements, clusterId: pull.cluster, machineId: pull.machineId },
    },
  };
}

/**
 * A bootstrap blob in hand: a join credential, so it is a Secret by type and lives only between its
 * receipt and Configure. It is never cached across actions (shard §4.4).
 */
export interface BootstrapBlob {
  readonly userData: Secret<Uint8Array>;
  readonly receivedAtMs: number;
  /** Monotonic; undefined when the operator set no lifetime: then use it at once. */
  readonly expiresAtMs: number | undefined;
}

/** Ask right before Configure begins; a stale blob is pulled again, never applied. */
export function isFresh(blob: BootstrapBlob, nowMs: number): boolean {
  return blob.expiresAtMs === undefined || nowMs < blob.expiresAtMs;
}
