// Follows the roll-ups of one session: confirms requests, and notices a shard that does not answer.
//
// Silence for three intervals, and at least ten seconds, while roll-ups are being sent ends the session:
// half-open connections and rejected roll-ups both look like that. The one exception is a classic shard
// (no extension acknowledged) that never answered any: it may be one that does not answer at all, so after
// two intervals requests count as confirmed when they are written, with one warning, and silence no
// longer ends the session. A shard that knows extensions is known to answer, so for it silence is
// never taken for consent.

import { BigFleetError, type Runtime, type Timer } from '@bigfleet/base';
import type { RequestRef } from '../rollup/capacity-request.ts';
import {
  FALLBACK_INTERVALS,
  MAX_UNANSWERED_ROLLUPS,
  MIN_SILENCE_MS,
  SILENT_INTERVALS,
} from './settings.ts';

export interface RollupWatchOptions {
  readonly runtime: Pick<Runtime, 'timers'>;
  readonly intervalMs: number;
  readonly isClassic: () => boolean;
  readonly onConfirmed: (requests: readonly RequestRef[]) => void;
  /** The shard is taken for one that never answers. Once per session. */
  readonly onFallback: () => void;
  readonly onDead: (error: BigFleetError) => void;
}

export class RollupWatch {
  readonly #options: RollupWatchOptions;
  readonly #generations = new RollupGenerations();
  readonly #silenceMs: number;
  /** Never reached within the silence that a session survives. */
  readonly #maxUnanswered: number;
  #silence: Timer | undefined;
  /** Armed by the first roll-up; the first answer cancels it for the rest of the session. */
  #fallback: Timer | undefined;
  #confirmsWhenWritten = false;

  constructor(options: RollupWatchOptions) {
    this.#options = options;
    const { intervalMs } = options;
    this.#silenceMs = Math.max(SILENT_INTERVALS * intervalMs, MIN_SILENCE_MS);
    this.#maxUnanswered = Math.max(MAX_UNANSWERED_ROLLUPS, Math.ceil(this.#silenceMs / intervalMs));
  }

  get hasUnanswered(): boolean {
    return this.#generations.unansweredCount > 0;
  }

  sent(requests: readonly RequestRef[]): void {
    if (this.#confirmsWhenWritten) {
      this.#options.onConfirmed(requests);
      return;
    }
    this.#generations.sent(requests);
    this.#armSilence();
    this.#armFallback();
    if (this.#generations.unansweredCount > this.#maxUnanswered) {
      this.#options.onDead(unanswered('answers to roll-ups went missing'));
    }
  }

  applied(): void {
    this.#answered();
    const confirmed = this.#generations.applied();
    this.#armSilence();
    this.#options.onConfirmed(confirmed);
  }

  held(): void {
    this.#answered();
    this.#generations.held();
    this.#armSilence();
  }

  close(): void {
    this.#silence?.cancel();
    this.#fallback?.cancel();
  }

  #answered(): void {
    this.#confirmsWhenWritten = false;
    this.#fallback?.cancel();
    this.#silence?.cancel();
    this.#silence = undefined;
  }

  /** Runs from the first unanswered roll-up, and again from each answer that leaves one open. */
  #armSilence(): void {
    if (this.#silence !== undefined || !this.hasUnanswered) return;
    const ms = this.#silenceMs;
    this.#silence = this.#options.runtime.timers.after(ms, () => {
      this.#options.onDead(unanswered(`no roll-up was answered for ${ms / 1_000} s`));
    });
  }

  #armFallback(): void {
    const ms = FALLBACK_INTERVALS * this.#options.intervalMs;
    this.#fallback ??= this.#options.runtime.timers.after(ms, () => this.#fallBack());
  }

  #fallBack(): void {
    if (!this.#options.isClassic()) return;
    this.#confirmsWhenWritten = true;
    this.#silence?.cancel();
    this.#silence = undefined;
    this.#options.onFallback();
    this.#options.onConfirmed(this.#generations.takeAll());
  }
}

function unanswered(text: string): BigFleetError {
  return new BigFleetError('rollups_unanswered', text);
}

type Generation = readonly RequestRef[];

/**
 * The requests that an answer of the shard confirms. Answers carry no number, and the shard may fold
 * two roll-ups into one or reject one without a word. So an answer is taken for the oldest roll-up
 * without one, and confirms only the requests that every roll-up since then contained too: whichever
 * of them it answers, those requests were in it. Never early; at worst late by the answers that went
 * missing.
 */
export class RollupGenerations {
  #unanswered: Generation[] = [];

  get unansweredCount(): number {
    return this.#unanswered.length;
  }

  sent(requests: Generation): void {
    this.#unanswered.push(requests);
  }

  /** `rollup`: the requests that are certainly in the NeedsTable. */
  applied(): Generation {
    const oldest = this.#unanswered.shift();
    if (oldest === undefined || this.#unanswered.length === 0) return oldest ?? [];
    const later = this.#unanswered.map((requests) => new Set(requests.map(({ uid }) => uid)));
    return oldest.filter(({ uid }) => later.every((uids) => uids.has(uid)));
  }

  /** `rollup-held`: answered, and nothing of it is in the NeedsTable. */
  held(): void {
    this.#unanswered.shift();
  }

  /** All of them, for a shard that never answers. */
  takeAll(): Generation {
    const all = this.#unanswered.flat();
    this.#unanswered = [];
    return [...new Map(all.map((request) => [request.uid, request])).values()];
  }
}
