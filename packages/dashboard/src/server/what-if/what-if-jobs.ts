// What-if runs that pages asked for: one at a time, each in a thread of its own, the rest in a short queue.
// An ask never waits: it starts a run or reads how far it is. A run that nobody has asked about for a minute
// is ended. Answers are kept for a while by what was asked.

import { Worker } from 'node:worker_threads';
import { describeThrown, err, ok, type Result, type Runtime, type Timer } from '@bigfleet/base';
import { parseChange, type WhatIfAnswer } from '@bigfleet/engine';
import type { Answer, Params, Problem } from '../../api/index.ts';
import { whatIfResult } from './whatif-answer.ts';

/** What the thread of a run is given. */
export interface RunTask {
  readonly directory: string;
  /** Checked. */
  readonly changes: readonly string[];
  readonly seed: string;
}

/** What it tells. */
export type RunMessage =
  | { readonly kind: 'progress'; readonly progress: number }
  | { readonly kind: 'refused'; readonly code: string; readonly text: string }
  | {
      readonly kind: 'done';
      readonly answer: WhatIfAnswer;
      /** When the newest trace was written last. */
      readonly endMs: number;
    };

export type JobAnswer = Omit<Answer<'whatif'>, 'frame'>;

/** A running thread; ended by `stop`. */
export interface Run {
  stop(): void;
}

export interface RunHandlers {
  readonly onMessage: (message: RunMessage) => void;
  /** It ended without an answer. */
  readonly onEnd: (reason: string) => void;
}

export interface WhatIfJobsOptions {
  readonly runtime: Runtime;
  /** Shard → its records directory. */
  readonly directories: ReadonlyMap<string, string>;
  /** Replaced in tests by what the thread does. */
  readonly start?: (task: RunTask, handlers: RunHandlers) => Run;
}

interface Job {
  readonly key: string;
  readonly task: RunTask;
  answer: JobAnswer;
  askedMs: number;
  /** Undefined while it waits or runs. */
  endedMs: number | undefined;
}

const MAX_QUEUED = 4;
const MAX_KEPT = 16;
const KEEP_MS = 600_000;
const ABANDONED_MS = 60_000;
const SWEEP_MS = 5_000;
const MAX_CHANGES = 32;
const MAX_HEAP_MIB = 1_024;

export class WhatIfJobs {
  readonly #options: WhatIfJobsOptions;
  /** By key, oldest first. */
  readonly #jobs = new Map<string, Job>();
  readonly #queue: Job[] = [];
  #running: { readonly job: Job; readonly run: Run } | undefined;
  #version = 0;
  #timer: Timer | undefined;

  constructor(options: WhatIfJobsOptions) {
    this.#options = options;
  }

  /** Counts up with progress, and now and then while something runs, so that watchers ask again. */
  get version(): number {
    return this.#version;
  }

  async ask(params: Params<'whatif'>): Promise<Result<JobAnswer, Problem>> {
    const task = this.#taskOf(params);
    if (!task.ok) return task;
    const key = JSON.stringify(task.value);
    const known = this.#jobs.get(key);
    const job = known ?? this.#enqueue(key, task.value);
    if (job === undefined) {
      const message = `${MAX_QUEUED} what-if runs wait already: ask again when one is done`;
      return err({ code: 'what_if_busy', message });
    }
    job.askedMs = this.#nowMs();
    return ok(job.answer);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#running?.run.stop();
    this.#running = undefined;
    this.#queue.length = 0;
  }

  #taskOf({ shard, set, seed }: Params<'whatif'>): Result<RunTask, Problem> {
    const { directories } = this.#options;
    const names = [...directories.keys()];
    if (names.length === 0) {
      const message =
        'what-if runs over recorded demand: name a records directory with --records-dir';
      return err({ code: 'source_absent', message });
    }
    const name = shard === '' && names.length === 1 ? (names[0] ?? '') : shard;
    const directory = directories.get(name);
    if (directory === undefined) {
      const message = `shard ${JSON.stringify(shard)}: records are kept of ${names.join(', ')}`;
      return err({ code: 'parameter_invalid', message });
    }
    const changes = set
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    if (changes.length > MAX_CHANGES) {
      const message = `set: ${changes.length} changes are more than ${MAX_CHANGES}`;
      return err({ code: 'parameter_invalid', message });
    }
    for (const change of changes) {
      const parsed = parseChange(change);
      if (parsed.ok) continue;
      const message = `set ${JSON.stringify(change.slice(0, 80))}: ${parsed.error}`;
      return err({ code: 'parameter_invalid', message });
    }
    return ok({ directory, changes, seed: String(seed) });
  }

  #enqueue(key: string, task: RunTask): Job | undefined {
    if (this.#queue.length >= MAX_QUEUED) return undefined;
    const answer: JobAnswer = {
      status: 'running',
      progress: 0,
      problem: '',
      changes: [...task.changes],
      result: null,
    };
    const job: Job = { key, task, answer, askedMs: this.#nowMs(), endedMs: undefined };
    this.#jobs.set(key, job);
    this.#queue.push(job);
    this.#startNext();
    this.#schedule();
    return job;
  }

  #startNext(): void {
    if (this.#running !== undefined) return;
    const job = this.#queue.shift();
    if (job === undefined) return;
    const start = this.#options.start ?? startThread;
    const run = start(job.task, {
      onMessage: (message) => this.#take(job, message),
      onEnd: (reason) => this.#end(job, { status: 'failed', problem: reason }),
    });
    this.#running = { job, run };
  }

  #take(job: Job, message: RunMessage): void {
    switch (message.kind) {
      case 'progress':
        if (job.endedMs !== undefined) return;
        job.answer = { ...job.answer, progress: Math.min(1, message.progress) };
        this.#version += 1;
        break;
      case 'refused':
        this.#end(job, { status: 'failed', problem: `${message.code}: ${message.text}` });
        break;
      case 'done': {
        const result = whatIfResult(message.answer, message.endMs);
        const changes = [...message.answer.changes];
        this.#end(job, { status: 'done', progress: 1, changes, result });
        break;
      }
    }
  }

  #end(job: Job, last: Partial<JobAnswer>): void {
    if (job.endedMs !== undefined) return;
    job.endedMs = this.#nowMs();
    job.answer = { ...job.answer, ...last };
    this.#version += 1;
    if (this.#running?.job === job) this.#running = undefined;
    this.#startNext();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#jobs.size === 0) return;
    this.#timer = this.#options.runtime.timers.after(SWEEP_MS, () => {
      this.#timer = undefined;
      this.#sweep();
      this.#schedule();
    });
  }

  #sweep(): void {
    const nowMs = this.#nowMs();
    if (this.#running !== undefined) this.#version += 1;
    for (const [key, job] of this.#jobs) {
      const isAbandoned = job.endedMs === undefined && nowMs - job.askedMs > ABANDONED_MS;
      const isOld = job.endedMs !== undefined && nowMs - job.endedMs > KEEP_MS;
      const isSurplus = job.endedMs !== undefined && this.#jobs.size > MAX_KEPT;
      if (!isAbandoned && !isOld && !isSurplus) continue;
      this.#jobs.delete(key);
      if (isAbandoned) this.#abandon(job);
    }
  }

  #abandon(job: Job): void {
    const at = this.#queue.indexOf(job);
    if (at >= 0) this.#queue.splice(at, 1);
    if (this.#running?.job === job) this.#running.run.stop();
    this.#end(job, { status: 'failed', problem: 'nobody asked for it any more' });
  }

  #nowMs(): number {
    return this.#options.runtime.clock.monotonicMs();
  }
}

function startThread(task: RunTask, { onMessage, onEnd }: RunHandlers): Run {
  const worker = new Worker(new URL('./worker-main.ts', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    name: 'what-if',
  });
  worker.on('message', onMessage);
  worker.once('error', (error: unknown) => onEnd(`the run failed: ${describeThrown(error)}`));
  worker.once('exit', (code) => onEnd(`the run ended without an answer (exit code ${code})`));
  return {
    stop: () => {
      worker.removeAllListeners();
      // What it says on its way out is for nobody.
      worker.on('error', () => undefined);
      worker.terminate().catch(() => undefined);
    },
  };
}
