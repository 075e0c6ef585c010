// Answers of views as text, each computed once for everybody who asks the same of the same state. The
// newest texts are kept within a bound; a text that nobody asked for lately is the first to go.

import { createHash } from 'node:crypto';
import { type Clock, ok, type Result } from '@bigfleet/base';
import type { Problem } from '../../api/index.ts';
import type { Fleet } from '../../model/index.ts';
import type { ViewQuery } from './view-query.ts';

export interface AnswerText {
  readonly json: string;
  /** What it took, for who paces the next one. */
  readonly tookMs: number;
  etag(): string;
}

export type TextResult = Result<AnswerText, Problem>;

export interface ViewAnswersOptions {
  readonly clock: Clock;
  readonly fleet: Pick<Fleet, 'answer' | 'version'>;
  /** Counts up with every change that the model is not told of: progress of what-if runs. */
  readonly outsideVersion: () => number;
  readonly observe: (view: ViewQuery['view'], seconds: number) => void;
}

interface Kept {
  readonly version: number;
  readonly answer: Promise<TextResult>;
  chars: number;
}

const MAX_KEPT = 128;
const MAX_KEPT_CHARS = 32 * 2 ** 20;
const MS_PER_SECOND = 1_000;

export class ViewAnswers {
  readonly #options: ViewAnswersOptions;
  /** Least recently asked first. */
  readonly #kept = new Map<string, Kept>();
  #chars = 0;

  constructor(options: ViewAnswersOptions) {
    this.#options = options;
  }

  /** Of the state as it is now; it moves when an answer may have changed. */
  versionOf({ view }: Pick<ViewQuery, 'view'>): number {
    const { fleet, outsideVersion } = this.#options;
    return view === 'whatif' ? outsideVersion() : fleet.version;
  }

  ask(query: ViewQuery): Promise<TextResult> {
    const version = this.versionOf(query);
    const known = this.#kept.get(query.key);
    if (known?.version === version) {
      this.#kept.delete(query.key);
      this.#kept.set(query.key, known);
      return known.answer;
    }
    const kept: Kept = { version, answer: this.#compute(query), chars: 0 };
    this.#forget(query.key);
    this.#kept.set(query.key, kept);
    return kept.answer.then((result) => {
      // A refusal may be over at the next question: a shard that did not answer, a run that was busy.
      if (result.ok) this.#weigh(query.key, kept, result.value.json.length);
      else if (this.#kept.get(query.key) === kept) this.#kept.delete(query.key);
      return result;
    });
  }

  async #compute(query: ViewQuery): Promise<TextResult> {
    const { clock, fleet, observe } = this.#options;
    const startMs = clock.monotonicMs();
    const answer = await fleet.answer(query.view, query.params);
    if (!answer.ok) return answer;
    const json = JSON.stringify(answer.value);
    const tookMs = clock.monotonicMs() - startMs;
    observe(query.view, tookMs / MS_PER_SECOND);
    let etag: string | undefined;
    return ok({
      json,
      tookMs,
      etag: () => (etag ??= `"${createHash('sha256').update(json).digest('base64url')}"`),
    });
  }

  #weigh(key: string, kept: Kept, chars: number): void {
    if (this.#kept.get(key) !== kept || kept.chars > 0) return;
    kept.chars = chars;
    this.#chars += chars;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT && this.#chars <= MAX_KEPT_CHARS) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#chars -= this.#kept.get(key)?.chars ?? 0;
    this.#kept.delete(key);
  }
}
