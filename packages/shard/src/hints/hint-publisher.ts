// Publishes AvailableCapacity once per cycle to every connected cluster: one hint per distinct
// demanded profile, and after the first applied roll-up of a session the catch-all, so that an
// install without demand and without a provider still shows one object, and an empty list means
// that no roll-up reached the shard (shard §11).
//
// Runs on the main thread in slices and lets I/O in between; publications never overlap. Where
// every hint changes with every cycle, repeats are spread over the interval, some profiles in each
// publication: all at once they would hold up the sockets for seconds, and cluster by cluster each
// frame would be encoded as often as it is sent. What was never told goes at once.
// Cost: one look per session at rest; for the others two reads per profile and no allocation (50
// clusters of 1,000 profiles are 50,000 looks per cycle), one count per profile that is due, nothing
// per machine; guarded by bench shard/cycle/steady/500k and shard/session/5k.

import { assert, type Runtime } from '@bigfleet/base';
import type { Session } from '../session/session.ts';
import { HintMemory, isNews, type Told } from './hint-memory.ts';
import { type ProfileHint, ProfileHints } from './hint.ts';
import { type ClusterDemand, type FleetSupply, SupplyWatch } from './supply.ts';

const HINT_INTERVAL_MS = 5_000;
const HINTS_PER_TURN = 1_000;
/** Hints that need not go out cost a fiftieth of one that does. */
const LOOKS_PER_HINT = 50;
/** Up to so many pairs of cluster and profile, nothing is spread. */
const FEW_PAIRS = 1_000;
/** Faster than the interval asks for, so that a backlog shrinks. */
const HURRY = 1.25;

export interface HintPublisherOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'timers'>;
  readonly sessions: { all(): Iterable<Session> };
  readonly demand: ClusterDemand;
  /** Least time between two hints of one profile to one cluster. */
  readonly intervalMs?: number | undefined;
}

export class HintPublisher {
  readonly #options: HintPublisherOptions;
  readonly #intervalMs: number;
  readonly #hints = new ProfileHints();
  readonly #supply = new SupplyWatch();
  /** Of open sessions and of those that closed since: the next session is told everything again. */
  readonly #memories = new Map<Session, HintMemory>();
  #publication = 0;
  #isPublishing = false;
  #startMs = Number.NEGATIVE_INFINITY;
  /** Of the last publication: pairs of cluster and profile. */
  #pairCount = 0;

  constructor(options: HintPublisherOptions) {
    this.#options = options;
    const { intervalMs = HINT_INTERVAL_MS } = options;
    this.#intervalMs = intervalMs > 0 ? intervalMs : HINT_INTERVAL_MS;
  }

  /** Await it before the next; `supply` must not change meanwhile. */
  async publish(supply: FleetSupply): Promise<void> {
    assert(!this.#isPublishing, 'publications overlap');
    this.#isPublishing = true;
    this.#publication += 1;
    this.#supply.follow(supply);
    try {
      const { timers } = this.#options.runtime;
      const slice = new Slice(() => timers.turn());
      const nowMs = this.#nowMs();
      const { version } = this.#supply;
      const round: Round = { version, slice, nowMs, repeats: this.#repeats(nowMs), pairCount: 0 };
      // A copy: sessions come and go between two turns.
      const sessions = Array.from(this.#options.sessions.all());
      for (const session of sessions) {
        if (!this.#isAtRest(session, round)) await this.#publishTo(session, round);
      }
      this.#pairCount = round.pairCount;
      if (this.#memories.size > sessions.length) this.#forgetClosed();
    } finally {
      this.#isPublishing = false;
    }
  }

  #repeats(nowMs: number): Repeats {
    const share = (nowMs - this.#startMs) / this.#intervalMs;
    this.#startMs = nowMs;
    const left = Math.ceil(HURRY * share * this.#pairCount);
    return new Repeats(this.#intervalMs, this.#pairCount <= FEW_PAIRS ? undefined : left);
  }

  #isAtRest(session: Session, round: Round): boolean {
    const memory = this.#memoryOf(session);
    const profiles = this.#options.demand.profilesOf(session.cluster);
    if (!memory.isAtRest(profiles, session.hasAcceptedRollup, round)) return false;
    round.pairCount += memory.pairCount;
    return true;
  }

  async #publishTo(session: Session, round: Round): Promise<void> {
    const { slice, version } = round;
    const profiles = this.#options.demand.profilesOf(session.cluster);
    const memory = this.#memoryOf(session);
    const all = memory.about(profiles, session.hasAcceptedRollup, this.#hints);
    round.pairCount += all.length;
    const walk: Walk = { at: 0, dueMs: Number.POSITIVE_INFINITY, isSettled: true };
    this.#walk(session, all, walk, round);
    while (slice.isFull) {
      await slice.next();
      if (!session.isOpen) return;
      round.nowMs = this.#nowMs();
      this.#walk(session, all, walk, round);
    }
    memory.rest(walk.isSettled ? version : undefined, walk.dueMs);
  }

  /** On to the end of the pairs or of the slice. Allocates nothing for a pair that is not told. */
  #walk(session: Session, all: readonly Told[], walk: Walk, round: Round): void {
    const { slice } = round;
    let { at, dueMs, isSettled } = walk;
    while (at < all.length && !slice.isFull) {
      const told = all[at++] as Told;
      const isTold = this.#isDue(told, round) && this.#tell(session, told, round);
      isSettled &&= isTold;
      dueMs = Math.min(dueMs, told.atMs + this.#intervalMs);
      slice.looked();
    }
    walk.at = at;
    walk.dueMs = dueMs;
    walk.isSettled = isSettled;
  }

  /** First of all: at ten cycles a second nearly every pair was told within the interval. */
  #isDue({ hint, atMs }: Told, { nowMs }: Round): boolean {
    return hint === undefined || nowMs - atMs >= this.#intervalMs;
  }

  /** False when it has to wait: then the session still has something to hear. */
  #tell(session: Session, told: Told, { repeats, nowMs, slice }: Round): boolean {
    const { subject } = told;
    const hint = subject.at(this.#publication, this.#supply);
    if (!isNews(told, hint)) return true;
    if (told.hint !== undefined && !repeats.mayGo(subject, nowMs)) return false;
    told.hint = hint;
    told.atMs = nowMs;
    session.post(subject.key, subject.frameOf(hint));
    slice.sent();
    return true;
  }

  #nowMs(): number {
    return this.#options.runtime.clock.monotonicMs();
  }

  #memoryOf(session: Session): HintMemory {
    let memory = this.#memories.get(session);
    if (memory === undefined) {
      memory = new HintMemory();
      this.#memories.set(session, memory);
    }
    return memory;
  }

  #forgetClosed(): void {
    for (const [session, memory] of this.#memories) {
      if (session.isOpen) continue;
      memory.forget();
      this.#memories.delete(session);
    }
  }
}

/** How far a session's pairs were looked at, and what was found. */
interface Walk {
  at: number;
  dueMs: number;
  isSettled: boolean;
}

interface Round {
  /** Of the supply. */
  readonly version: number;
  readonly slice: Slice;
  readonly repeats: Repeats;
  /** As of the slice: reading the clock per pair would cost more than the pair. */
  nowMs: number;
  pairCount: number;
}

/** Which hints may be told again in one publication: whole profiles, as many as are due by now. */
class Repeats {
  readonly #intervalMs: number;
  /** Undefined: without end. */
  #left: number | undefined;
  readonly #open = new Map<ProfileHint, boolean>();

  constructor(intervalMs: number, left: number | undefined) {
    this.#intervalMs = intervalMs;
    this.#left = left;
  }

  mayGo(subject: ProfileHint, nowMs: number): boolean {
    if (this.#left === undefined) return true;
    return this.#open.get(subject) ?? this.#opens(subject, this.#left, nowMs);
  }

  /** Each in its turn: one that was open within the interval leaves room for the others. */
  #opens(subject: ProfileHint, left: number, nowMs: number): boolean {
    const isOpen = left > 0 && nowMs - subject.repeatedMs >= this.#intervalMs;
    this.#open.set(subject, isOpen);
    if (isOpen) {
      subject.repeatedMs = nowMs;
      this.#left = left - subject.sessionCount;
    }
    return isOpen;
  }
}

/** A share of the event loop. */
class Slice {
  readonly #turn: () => Promise<void>;
  #looks = 0;

  constructor(turn: () => Promise<void>) {
    this.#turn = turn;
  }

  get isFull(): boolean {
    return this.#looks >= HINTS_PER_TURN * LOOKS_PER_HINT;
  }

  looked(): void {
    this.#looks += 1;
  }

  sent(): void {
    this.#looks += LOOKS_PER_HINT - 1;
  }

  next(): Promise<void> {
    this.#looks = 0;
    return this.#turn();
  }
}
