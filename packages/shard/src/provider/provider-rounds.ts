// One round of Lists per cycle, each provider by itself. A round waits for what is being taken in,
// which ends, but only briefly for a provider that does not answer, which may not: the cycle then
// goes on with what is known of its machines (shard §7, §16). Its List stays under way; no second
// one is asked for, and later rounds do not wait for it at all.
//
// An answer that comes after its round is the outcome of the next one, which `onLate` asks for.
// Until every provider was heard once, rounds are patient: a cycle that does not know what one
// provider already runs buys it a second time from another. A provider that refuses is asked again
// meanwhile, for a minute after the start: then a dead one no longer keeps the others waiting.

import { assert, BigFleetError, type Runtime } from '@bigfleet/base';
import type { ProviderSet } from './provider-set.ts';
import type { ProviderSource, RefreshOptions, RefreshOutcome } from './provider-source.ts';

/** What a provider that does not answer costs a cycle, once per List. */
export const PATIENCE_MS = 500;
/** A List may take a while; a provider that is silent for a whole cycle is taken for ill. */
const SILENT_AFTER_MS = 10_000;
/** How often a patient round looks whether it still has to wait, and asks failed providers again. */
const LOOK_EVERY_MS = 1_000;
/** Since the start: how long a provider that fails and was never heard is waited for. */
export const UNHEARD_PATIENCE_MS = 60_000;

export type RoundOutcome = (RefreshOutcome | Unanswered) & {
  /** Since the List was asked for: what is known of its machines may be as old as that. */
  readonly forMs: number;
  /** No List of it was ever taken in: nothing is known of its machines. */
  readonly isUnheard: boolean;
  /** The round waited to ask the provider again: that time is no work of the cycle. */
  readonly wasAskedAgain: boolean;
};

/** Nothing was changed. */
interface Unanswered {
  readonly kind: 'unanswered';
  /** For longer than a List should take. */
  readonly isSilent: boolean;
  readonly error: BigFleetError;
}

export interface ProviderRoundsOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'timers'>;
  readonly providers: ProviderSet;
  /** While true, a round waits for the List of every provider. */
  readonly isPatient: () => boolean;
  /** Its List was taken in, whether a round still waits for it or not. */
  readonly onRefreshed?: (provider: string) => void;
  /** Its List failed, nothing was ever heard of it, and it is asked again. */
  readonly onRefused?: (provider: string, error: Error) => void;
  /** The outcome of a List that a round left behind is there. */
  readonly onLate: () => void;
}

/** One refresh under way, or one whose outcome no round has taken yet. */
interface Running {
  readonly source: ProviderSource;
  readonly startMs: number;
  readonly wasAskedAgain: boolean;
  isLeftBehind: boolean;
  settledMs: number;
  settled: { readonly outcome: RefreshOutcome } | { readonly thrown: unknown } | undefined;
}

export class ProviderRounds {
  readonly #options: ProviderRoundsOptions;
  /** By name, so that a provider which comes back waits for the List of its predecessor. */
  readonly #running = new Map<string, Running>();
  /** Names whose List was taken in once. Bound: the names that were ever configured. */
  readonly #heard = new Set<string>();
  readonly #startMs: number;
  readonly #stop = new AbortController();
  /** Wakes a round, and `stop`, when a refresh settles. */
  readonly #waiters = new Set<() => void>();
  #isRound = false;

  constructor(options: ProviderRoundsOptions) {
    this.#options = options;
    this.#startMs = options.runtime.clock.monotonicMs();
  }

  /** One at a time. Throws what `apply` threw; the other providers' Lists go on. */
  async next(options: RefreshOptions): Promise<ReadonlyMap<string, RoundOutcome>> {
    assert(!this.#isRound, 'rounds overlap');
    this.#isRound = true;
    for (const source of this.#options.providers) {
      if (!this.#running.has(source.name)) this.#start(source, options, false);
    }
    while (this.#hasReasonToWait()) {
      await this.#change();
      this.#askAgain(options);
    }
    this.#isRound = false;
    return this.#outcomes();
  }

  /** Nothing is asked any more; resolves when nothing is applied any more. */
  async stop(): Promise<void> {
    this.#stop.abort(new BigFleetError('cancelled', 'the shard stops'));
    const isOpen = ({ settled }: Running): boolean => settled === undefined;
    while ([...this.#running.values()].some(isOpen)) await this.#change();
  }

  #start(source: ProviderSource, options: RefreshOptions, wasAskedAgain: boolean): void {
    const startMs = this.#options.runtime.clock.monotonicMs();
    const running: Running = {
      source,
      startMs,
      wasAskedAgain,
      isLeftBehind: false,
      settledMs: 0,
      settled: undefined,
    };
    this.#running.set(source.name, running);
    const settle = (settled: Running['settled']): void => {
      running.settled = settled;
      running.settledMs = this.#options.runtime.clock.monotonicMs();
      for (const resume of this.#waiters) resume();
      if (running.isLeftBehind && !this.#stop.signal.aborted) this.#options.onLate();
    };
    source.refresh({ ...options, signal: this.#stop.signal }).then(
      (outcome) => {
        if (outcome.kind === 'refreshed') {
          this.#heard.add(source.name);
          this.#options.onRefreshed?.(source.name);
        }
        settle({ outcome });
      },
      (thrown: unknown) => settle({ thrown }),
    );
  }

  #hasReasonToWait(): boolean {
    if (this.#stop.signal.aborted) return false;
    const isPatient = this.#options.isPatient();
    const nowMs = this.#options.runtime.clock.monotonicMs();
    return [...this.#running.values()].some((running) => {
      const { source, startMs, settled, isLeftBehind } = running;
      if (settled !== undefined) return this.#refusalOf(running) !== undefined;
      if (isPatient || !source.isAsking) return true;
      return !isLeftBehind && nowMs - startMs < PATIENCE_MS;
    });
  }

  /** Why it failed, if nothing is known of its machines yet and there is still time to ask again. */
  #refusalOf({ source, settled }: Running): BigFleetError | undefined {
    if (settled === undefined || 'thrown' in settled || settled.outcome.kind !== 'failed') {
      return undefined;
    }
    const { providers, runtime, isPatient } = this.#options;
    if (this.#heard.has(source.name) || providers.get(source.name) !== source) return undefined;
    const hasTime = runtime.clock.monotonicMs() - this.#startMs < UNHEARD_PATIENCE_MS;
    return isPatient() && hasTime ? settled.outcome.error : undefined;
  }

  #askAgain(options: RefreshOptions): void {
    const nowMs = this.#options.runtime.clock.monotonicMs();
    if (this.#stop.signal.aborted) return;
    for (const running of this.#running.values()) {
      const { source, settledMs } = running;
      const isDue = nowMs - settledMs >= LOOK_EVERY_MS;
      const refusal = isDue ? this.#refusalOf(running) : undefined;
      if (refusal === undefined) continue;
      this.#options.onRefused?.(source.name, refusal);
      this.#start(source, options, true);
    }
  }

  /** Until something settles, or it is time to look again. */
  async #change(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiters.add(resolve);
    const timer = this.#options.runtime.timers.after(this.#lookAfterMs(), resolve);
    await promise;
    timer.cancel();
    this.#waiters.delete(resolve);
  }

  #lookAfterMs(): number {
    const nowMs = this.#options.runtime.clock.monotonicMs();
    const left = [...this.#running.values()]
      .map(({ startMs }) => startMs + PATIENCE_MS - nowMs)
      .filter((ms) => ms > 0);
    return Math.min(LOOK_EVERY_MS, ...left);
  }

  #outcomes(): ReadonlyMap<string, RoundOutcome> {
    const { providers, runtime } = this.#options;
    const outcomes = new Map<string, RoundOutcome>();
    for (const [name, running] of this.#running) {
      const { source, settled, startMs, wasAskedAgain } = running;
      const forMs = runtime.clock.monotonicMs() - startMs;
      if (settled === undefined) running.isLeftBehind = true;
      else this.#running.delete(name);
      if (settled !== undefined && 'thrown' in settled) throw settled.thrown;
      // A provider that left the set meanwhile has nothing to say any more.
      if (providers.get(name) !== source) continue;
      const isUnheard = !this.#heard.has(name);
      const outcome = settled?.outcome ?? unanswered(forMs);
      outcomes.set(name, { ...outcome, forMs, isUnheard, wasAskedAgain });
    }
    return outcomes;
  }
}

function unanswered(forMs: number): Unanswered {
  const error = new BigFleetError('deadline_exceeded', 'the provider has not answered yet', {
    fields: { ms: Math.round(forMs) },
  });
  return { kind: 'unanswered', isSilent: forMs >= SILENT_AFTER_MS, error };
}
