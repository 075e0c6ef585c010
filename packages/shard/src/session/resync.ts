// The replay after a hello: one NodeStateUpdate per machine bound to the cluster, then the barrier
// ack `resync`, by which the operator knows that machines that it did not hear of are gone. An operator that
// was away when a transition was learned would otherwise never hear of it.
//
// One worker for all sessions, a bounded number of frames per turn of the event loop: after a
// restart thousands of operators come back at once. A machine that left the cluster since the
// replay began is skipped: its own update is already queued.
//
// After a restart the inventory is unknown until every provider was listed, not empty: the barrier waits
// for that, or operators would take every machine for gone and delete what stands for it.
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
  /** A machine that the inventory does not hold does not exist. */
  readonly isInventoryWhole: () => boolean;
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
  /** Replayed, without the barrier. */
  #held: OperatorSession[] = [];
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

  /** The inventory may have become whole. */
  resume(): void {
    if (this.#held.length === 0 || !this.#options.isInventoryWhole()) return;
    const held = this.#held;
    this.#held = [];
    for (const session of held) this.#close(session);
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
      else this.#close(job.session);
    }
  }

  /** A frame for a session that has ended vanishes. */
  #close(session: OperatorSession): void {
    if (this.#options.isInventoryWhole()) {
      session.barrier(ackFrame('resync', this.#options.ackStamp()));
      return;
    }
    this.#held = this.#held.filter(({ isOpen }) => isOpen);
    this.#held.push(session);
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
