// Faults on purpose: a cap on requests per second, refusals, latency, resets and black holes, for requests
// that match. Switched while the server runs; a share of requests is drawn from a seeded stream, so that a
// run repeats.

import type { Random, Runtime } from '@bigfleet/base';
import { Refusal } from './status.ts';
import type { Watch } from './watch.ts';

export interface FaultMatch {
  readonly methods?: readonly string[] | undefined;
  readonly pathPrefix?: string | undefined;
  /** Only watches, or only other requests. */
  readonly isWatch?: boolean | undefined;
  /** Of the matching requests, 0 to 1. */
  readonly share?: number | undefined;
  /** The rule is over after this many requests. */
  readonly times?: number | undefined;
}

export type FaultAction =
  | {
      readonly kind: 'refuse';
      readonly code: 401 | 403 | 429 | 500 | 503 | 504;
      readonly retryAfterSeconds?: number | undefined;
    }
  /** The request is served, later. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** The connection is cut instead of an answer. */
  | { readonly kind: 'reset' }
  /** The write happens, its answer is lost. */
  | { readonly kind: 'reset-after' }
  /** Accepted and never answered; a watch that matches is opened and falls silent. */
  | { readonly kind: 'hang' };

export interface FaultedRequest {
  readonly method: string;
  readonly path: string;
  readonly isWatch: boolean;
}

export interface FaultPlan {
  readonly latencyMs: number;
  readonly outcome: 'serve' | 'reset' | 'reset-after' | 'hang';
  readonly refusal: Refusal | undefined;
}

const TEXTS: Readonly<Record<number, readonly [reason: string, message: string]>> = {
  401: ['Unauthorized', 'Unauthorized'],
  403: ['Forbidden', 'forbidden: a fault of the test API server'],
  429: ['TooManyRequests', 'Too many requests, please try again later.'],
  500: ['InternalError', 'Internal error occurred: a fault of the test API server'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: ['Timeout', 'Timeout: request did not complete within the allotted timeout'],
};

interface Rule {
  readonly match: FaultMatch;
  readonly action: FaultAction;
  left: number;
}

export class Faults {
  readonly #runtime: Runtime;
  readonly #random: Random;
  readonly #rules = new Set<Rule>();
  readonly #watches: ReadonlySet<Watch>;
  #cap: { readonly qps: number; readonly burst: number } | undefined;
  #tokens = 0;
  #filledAtMs = 0;

  constructor(runtime: Runtime, watches: ReadonlySet<Watch>) {
    this.#runtime = runtime;
    this.#random = runtime.random.stream('api server faults');
    this.#watches = watches;
  }

  /** Returns what takes the rule away again. */
  add(match: FaultMatch, action: FaultAction): () => void {
    const rule = { match, action, left: match.times ?? Number.POSITIVE_INFINITY };
    this.#rules.add(rule);
    return () => this.#rules.delete(rule);
  }

  clear(): void {
    this.#rules.clear();
    this.#cap = undefined;
    this.setSilent({}, false);
  }

  /** Requests other than watches under way; beyond it the answer is 429 with Retry-After. */
  setCap(cap: { readonly qps: number; readonly burst: number } | undefined): void {
    this.#cap = cap;
    this.#tokens = cap?.burst ?? 0;
    this.#filledAtMs = this.#runtime.clock.monotonicMs();
  }

  /** Open watches that match go on without delivering anything, or deliver again. */
  setSilent(match: FaultMatch, isSilent: boolean): number {
    return this.#each(match, (watch) => watch.setSilent(isSilent));
  }

  /** Cuts the connections of open watches. */
  breakWatches(match: FaultMatch = {}): number {
    return this.#each(match, (watch) => watch.break());
  }

  /** Ends open watches in order, as a server that shuts down. */
  endWatches(match: FaultMatch = {}): number {
    return this.#each(match, (watch) => watch.end());
  }

  plan(request: FaultedRequest): FaultPlan {
    let latencyMs = 0;
    let outcome: FaultPlan['outcome'] = 'serve';
    let refusal = this.#overCap();
    for (const rule of this.#rules) {
      const { match, action } = rule;
      if (!this.#matches(match, request)) continue;
      rule.left -= 1;
      if (rule.left <= 0) this.#rules.delete(rule);
      switch (action.kind) {
        case 'latency':
          latencyMs += action.ms;
          break;
        case 'refuse':
          refusal ??= refusalFor(action.code, action.retryAfterSeconds);
          break;
        default:
          outcome = action.kind;
      }
    }
    return { latencyMs, outcome, refusal };
  }

  #overCap(): Refusal | undefined {
    if (this.#cap === undefined) return undefined;
    const { qps, burst } = this.#cap;
    const nowMs = this.#runtime.clock.monotonicMs();
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#filledAtMs) * qps) / 1000);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) return refusalFor(429, 1);
    this.#tokens -= 1;
    return undefined;
  }

  #matches(match: FaultMatch, { method, path, isWatch }: FaultedRequest): boolean {
    if (match.methods !== undefined && !match.methods.includes(method)) return false;
    if (match.pathPrefix !== undefined && !path.startsWith(match.pathPrefix)) return false;
    if (match.isWatch !== undefined && match.isWatch !== isWatch) return false;
    return match.share === undefined || this.#random.float() < match.share;
  }

  #each(match: FaultMatch, act: (watch: Watch) => void): number {
    let count = 0;
    for (const watch of Array.from(this.#watches)) {
      if (!this.#matches(match, { method: 'GET', path: watch.options.path, isWatch: true }))
        continue;
      act(watch);
      count++;
    }
    return count;
  }
}

function refusalFor(code: number, retryAfterSeconds: number | undefined): Refusal {
  const [reason, message] = TEXTS[code] ?? ['', `HTTP ${code}`];
  const details = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new Refusal(code, reason, message, details);
}
