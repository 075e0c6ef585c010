// The replay after a hello: one NodeStateUpdate per machine bound to the cluster, then the barrier
// ack `resync`, by which the operator knows that machines that it did not hear of are gone. An operator that
// was away when a transition was learned would otherwise never hear of it.
//
// One worker for all sessions, a bounded number of frames per turn of the event loop: after a
// restart thousands of operators come back at once. A machine that left the cluster since the
// replay began is skipped: its own update is already queued.
//
// Bound: one job per live session; a job ends with its session.

import type { Timers } from '@bigfleet/base';
import { ackFrame, type AckStamp } from './frame.ts';
import type { OperatorSession } from './session.ts';

const FRAMES_PER_TURN = 200;

export interface ResyncOptions {
  readonly runtime: { readonly timers: Timers };
  readonly ackStamp: () => AckStamp;
  readonly machines: { idsBoundTo(cluster: string): readonly string[] };
  /** Queues the machine's state if it is still bound to the session's cluster. */
  readonly replay: (session: OperatorSession, machineId: string) => void;
  readonly supervise: (component: string, work: Promise<void>) => void;
}

interface Job {
  readonly session: OperatorSession;
  readonly machineIds: readonly string[];
  next: number;
}

export class Resync {
  readonly #options: ResyncOptions;
  readonly #jobs: Job[] = [];
  #isRunning = false;

  constructor(options: ResyncOptions) {
    this.#options = options;
  }

  start(session: OperatorSession): void {
    const machineIds = this.#options.machines.idsBoundTo(session.cluster);
    this.#jobs.push({ session, machineIds, next: 0 });
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#options.supervise('resync', this.#run());
  }

  async #run(): Promise<void> {
    try {
      while (this.#jobs.length > 0) {
        this.#turn();
        await this.#options.runtime.timers.turn();
      }
    } finally {
      this.#isRunning = false;
    }
  }

  /** Round robin, so that one large cluster does not hold up the small ones behind it. */
  #turn(): void {
    let budget = FRAMES_PER_TURN;
    while (budget > 0) {
      const job = this.#jobs.shift();
      if (job === undefined) return;
      budget -= this.#advance(job, budget);
      if (!job.session.isOpen) continue;
      if (job.next < job.machineIds.length) this.#jobs.push(job);
      else job.session.barrier(ackFrame('resync', this.#options.ackStamp()));
    }
  }

  /** How much of the budget it used; at least one, so that a turn ends. */
  #advance(job: Job, budget: number): number {
    const end = Math.min(job.machineIds.length, job.next + budget);
    const used = end - job.next + 1;
    for (; job.next < end && job.session.isOpen; job.next++) {
      this.#options.replay(job.session, job.machineIds[job.next] ?? '');
    }
    return used;
  }
}
