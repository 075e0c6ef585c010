// Publishes AvailableCapacity once per cycle to every connected cluster: one hint per distinct
// demanded profile, and after the first applied roll-up of a session the catch-all, so that an
// install without demand and without a provider still shows one object, and an empty list means
// that no roll-up reached the shard (shard §11).
//
// Runs on the main thread in slices and lets I/O in between; publications never overlap.
// Cost: one comparison per (cluster, profile), nothing per machine.

import { assert, type Runtime } from '@bigfleet/base';
import type { Session } from '../session/session.ts';
import { CATCH_ALL, hintFrame, hintKey, hintOf } from './hint.ts';
import { HintMemory } from './hint-memory.ts';
import type { ClusterDemand, DemandedProfile, FleetSupply } from './supply.ts';

const HINT_INTERVAL_MS = 5_000;
const HINTS_PER_TURN = 1_000;

export interface HintPublisherOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'timers'>;
  readonly sessions: { all(): Iterable<Session> };
  readonly demand: ClusterDemand;
  /** Least time between two hints of one profile to one cluster. */
  readonly intervalMs?: number;
}

export class HintPublisher {
  readonly #options: HintPublisherOptions;
  readonly #intervalMs: number;
  /** A closed session's entry goes with it: the next session is told everything again. */
  readonly #memories = new WeakMap<Session, HintMemory>();
  #isPublishing = false;

  constructor(options: HintPublisherOptions) {
    this.#options = options;
    const { intervalMs = HINT_INTERVAL_MS } = options;
    this.#intervalMs = intervalMs > 0 ? intervalMs : HINT_INTERVAL_MS;
  }

  /** Await it before the next; `supply` must not change meanwhile. */
  async publish(supply: FleetSupply): Promise<void> {
    assert(!this.#isPublishing, 'publications overlap');
    this.#isPublishing = true;
    try {
      const slice = new Slice(() => this.#options.runtime.timers.turn());
      // A copy: sessions come and go between two turns.
      const sessions = Array.from(this.#options.sessions.all());
      for (const session of sessions) {
        await this.#publishTo(session, supply, slice);
      }
    } finally {
      this.#isPublishing = false;
    }
  }

  async #publishTo(session: Session, supply: FleetSupply, slice: Slice): Promise<void> {
    const memory = this.#memoryOf(session);
    memory.begin();
    if (session.hasAcceptedRollup) this.#offer(session, memory, CATCH_ALL, supply);
    for (const profile of this.#options.demand.profilesOf(session.cluster)) {
      if (!session.isOpen) return;
      this.#offer(session, memory, profile, supply);
      if (slice.isFull()) await slice.next();
    }
    memory.end();
  }

  #offer(
    session: Session,
    memory: HintMemory,
    profile: DemandedProfile,
    supply: FleetSupply,
  ): void {
    const hint = hintOf(profile, supply);
    const nowMs = this.#options.runtime.clock.monotonicMs();
    if (!memory.isDue(profile.fingerprint, hint, nowMs, this.#intervalMs)) return;
    session.post(hintKey(profile), hintFrame(profile, hint));
  }

  #memoryOf(session: Session): HintMemory {
    let memory = this.#memories.get(session);
    if (memory === undefined) {
      memory = new HintMemory();
      this.#memories.set(session, memory);
    }
    return memory;
  }
}

/** A share of the event loop. */
class Slice {
  readonly #turn: () => Promise<void>;
  #usedCount = 0;

  constructor(turn: () => Promise<void>) {
    this.#turn = turn;
  }

  isFull(): boolean {
    return ++this.#usedCount >= HINTS_PER_TURN;
  }

  next(): Promise<void> {
    this.#usedCount = 0;
    return this.#turn();
  }
}
