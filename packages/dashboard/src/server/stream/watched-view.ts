// A view that streams show: computed once for all of them, when the state has moved and not more often than
// its size allows, and written to a stream only when the text differs from what that stream has.

import type { Clock } from '@bigfleet/base';
import type { ViewAnswers, TextResult } from '../views/view-answers.ts';
import { parseViewText, type ViewQuery } from '../views/view-query.ts';
import { sseFrame, sseText } from './event-ring.ts';
import type { StreamReader } from './stream-reader.ts';

/** Between two texts of one view. */
const MIN_INTERVAL_MS = 250;
const MAX_INTERVAL_MS = 5_000;
/** Of one view to one stream. */
const CHARS_PER_MS = 1_000;
/** A view may take this share of the process: 1 in 10. */
const TIMES_ITS_COST = 10;

export class WatchedView {
  readonly text: string;
  readonly readers: Set<StreamReader> = new Set();
  readonly #answers: ViewAnswers;
  readonly #clock: Clock;
  readonly #query: ViewQuery | undefined;
  /** Written to every reader instead of an answer. */
  readonly #refusal: string | undefined;
  /** Counts texts that differ from the one before. */
  #publication = 0;
  #published = '';
  /** Of the state that was asked last. */
  #version: number | undefined;
  /** A moment that has passed: it does not change any more. */
  #isFinal = false;
  #dueMs = 0;
  #isComputing = false;

  constructor(text: string, answers: ViewAnswers, clock: Clock) {
    this.text = text;
    this.#answers = answers;
    this.#clock = clock;
    const query = parseViewText(text);
    if (query.ok) this.#query = query.value;
    else this.#refusal = sseFrame({ event: 'refused', data: { view: text, ...query.error } });
  }

  /** Computes and shows what is due; resolves when that is done. Rejects for a bug only. */
  async refresh(): Promise<void> {
    if (this.#refusal !== undefined) return this.#showAll(1, this.#refusal);
    const query = this.#query;
    if (query === undefined || this.#isComputing || !this.#isDue(query)) return;
    this.#isComputing = true;
    this.#version = this.#answers.versionOf(query);
    try {
      const answer = await this.#answers.ask(query);
      this.#isFinal = query.isPast && answer.ok;
      this.#take(answer);
    } finally {
      this.#isComputing = false;
    }
  }

  #isDue(query: ViewQuery): boolean {
    // A reader that has just come, or has just drained, waits for nothing.
    if (this.#isOwed()) return true;
    if (this.readers.size === 0 || this.#clock.monotonicMs() < this.#dueMs) return false;
    return !this.#isFinal && this.#answers.versionOf(query) !== this.#version;
  }

  /** Some reader that could be written to has not seen the newest text. */
  #isOwed(): boolean {
    for (const reader of this.readers) {
      if (!reader.isBlocked && !reader.isShown(this.text, this.#publication)) return true;
    }
    return false;
  }

  #take(result: TextResult): void {
    const { text } = this;
    const mark = result.ok ? result.value.etag() : JSON.stringify(result.error);
    if (mark !== this.#published || this.#publication === 0) this.#publication += 1;
    this.#published = mark;
    const chars = result.ok ? result.value.json.length : 0;
    const cost = result.ok ? result.value.tookMs * TIMES_ITS_COST : 0;
    const intervalMs = Math.max(MIN_INTERVAL_MS, chars / CHARS_PER_MS, cost);
    this.#dueMs = this.#clock.monotonicMs() + Math.min(intervalMs, MAX_INTERVAL_MS);
    const frame = result.ok
      ? sseText({
          event: 'view',
          json: `{"view":${JSON.stringify(text)},"answer":${result.value.json}}`,
        })
      : sseFrame({ event: 'refused', data: { view: text, ...result.error } });
    this.#showAll(this.#publication, frame);
  }

  #showAll(publication: number, frame: string): void {
    for (const reader of this.readers) {
      if (!reader.isShown(this.text, publication)) reader.show(this.text, publication, frame);
    }
  }
}
