// The answer of `/readyz`. Latched: once ready, ready until shutdown, because a later outage of a
// peer must not take a working process out of rotation. Unlatched: follows the facts, as for "a
// leader is observed". Shutdown overrides both and does not come back.

import { assert } from '@bigfleet/base';

export type ReadyState =
  /** `detail`: ready, and yet something that an operator must know. */
  | { readonly ready: true; readonly detail?: string }
  | { readonly ready: false; readonly reason: string };

export interface ReadinessSource {
  state(): ReadyState;
}

export interface Readiness extends ReadinessSource {
  /** `detail` is said beside "ready"; empty or absent = nothing to say. */
  markReady(detail?: string): void;
  /** Ignored by a latched readiness that has been ready. */
  markNotReady(reason: string): void;
  /** Before draining: 503 from now on. */
  shutDown(): void;
}

export interface ReadinessOptions {
  /** Body of the 503 until the first `markReady`, for example `no raft leader observed`. */
  readonly reason: string;
  readonly latched: boolean;
}

const READY: ReadyState = { ready: true };
const SHUTTING_DOWN: ReadyState = { ready: false, reason: 'shutting down' };

export function createReadiness(options: ReadinessOptions): Readiness {
  assert(options.reason.length > 0, 'not ready needs a reason');
  let state: ReadyState = { ready: false, reason: options.reason };
  return {
    state: () => state,
    markReady(detail = '') {
      if (state !== SHUTTING_DOWN) state = detail === '' ? READY : { ready: true, detail };
    },
    markNotReady(reason) {
      assert(reason.length > 0, 'not ready needs a reason');
      if (state === SHUTTING_DOWN || (options.latched && state.ready)) return;
      state = { ready: false, reason };
    },
    shutDown() {
      state = SHUTTING_DOWN;
    },
  };
}

/** Ready when all are; otherwise the first reason, else the first detail. For several in one process. */
export function allReady(sources: readonly ReadinessSource[]): ReadinessSource {
  return {
    state: () => {
      const states = sources.map((source) => source.state());
      return (
        states.find((state) => !state.ready) ??
        states.find((state) => state.ready && state.detail !== undefined) ??
        READY
      );
    },
  };
}
