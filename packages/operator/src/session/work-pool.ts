// The bounded pool for work that writes to the cluster. One queue per kind, served in turn: a storm
// of node states must not hold up a reclaim, and neither may hold up reading the stream. The pool
// never blocks its caller; a full queue refuses.

import { assert, BoundedQueue } from '@bigfleet/base';
import type { Supervisor } from './supervisor.ts';

export const WORK_KINDS = ['reclaim', 'node_state', 'available_capacity'] as const;

export type WorkKind = (typeof WORK_KINDS)[number];

/** Handles its own failures. */
export type Task = () => Promise<void>;

export interface WorkPoolOptions {
  readonly concurrency: number;
  /** Per kind. */
  readonly queueCapacity: number;
  readonly supervisor: Supervisor;
  readonly onRunning: (count: number) => void;
}

export class WorkPool {
  readonly #options: WorkPoolOptions;
  readonly #queues: readonly BoundedQueue<Task>[];
  #runningCount = 0;
  #lastServed = 0;
  #isClosed = false;

  constructor(options: WorkPoolOptions) {
    const { queueCapacity: capacity } = options;
    this.#options = options;
    this.#queues = WORK_KINDS.map(() => new BoundedQueue<Task>(capacity));
  }

  submit(kind: WorkKind, task: Task): 'queued' | 'refused' {
    const queue = this.#queues[WORK_KINDS.indexOf(kind)];
    assert(queue !== undefined, 'every kind has a queue', { kind });
    if (this.#isClosed || queue.push(task) === 'refused') return 'refused';
    this.#pump();
    return 'queued';
  }

  /** Starts nothing more; what runs goes on. */
  close(): void {
    this.#isClosed = true;
    for (const queue of this.#queues) queue.clear();
  }

  #pump(): void {
    while (this.#runningCount < this.#options.concurrency) {
      const task = this.#next();
      if (task === undefined) return;
      this.#count(+1);
      this.#options.supervisor.watch(this.#run(task));
    }
  }

  async #run(task: Task): Promise<void> {
    try {
      await task();
    } finally {
      this.#count(-1);
      this.#pump();
    }
  }

  #next(): Task | undefined {
    for (let step = 1; step <= this.#queues.length; step++) {
      const at = (this.#lastServed + step) % this.#queues.length;
      const task = this.#queues[at]?.shift();
      if (task !== undefined) {
        this.#lastServed = at;
        return task;
      }
    }
    return undefined;
  }

  #count(by: 1 | -1): void {
    this.#runningCount += by;
    this.#options.onRunning(this.#runningCount);
  }
}
