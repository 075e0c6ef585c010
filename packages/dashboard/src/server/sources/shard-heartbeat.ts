// The status of a shard, once a second, within a deadline. Its answers tell a shard without work from one
// that is gone, and a feed that hangs from one that has nothing to say; sessions, brakes and the times of
// phases are taken less often: they are many, and every step of the history holds those of its time.

import { type Runtime, runWithDeadline, sleep } from '@bigfleet/base';
import type { Client, ShardQuery, ShardStatus } from '@bigfleet/wire';
import type { BrakeFacts, SessionFacts, ShardFacts } from '../../model/index.ts';
import { problemOf } from './network.ts';
import { brakeFacts, phaseFacts, sessionFacts, shardFacts, type ShardRows } from './translate.ts';

export interface HeartbeatOptions {
  readonly runtime: Runtime;
  readonly shard: string;
  readonly query: Client<typeof ShardQuery>;
  readonly onBeat: (facts: ShardFacts) => void;
  readonly onMissed: (problem: string) => void;
  /** It has not answered several times in a row; told at every beat from then on. */
  readonly onSilent: () => void;
}

const EVERY_MS = 1_000;
/** With the pause before it, a shard that hangs is stale within three seconds. */
const ANSWER_WITHIN_MS = 1_500;
const ROWS_WITHIN_MS = 5_000;
const ROWS_EVERY_MS = 5_000;
const SILENT_AFTER_BEATS = 4;
/** The feed is told within a second of a cycle: this long behind, it hangs. */
const BEHIND_MS = 3_000;
const MAX_SESSIONS = 10_000;
const MAX_BRAKES = 1_000;
const MAX_PHASES = 32;

export class ShardHeartbeat {
  readonly #options: HeartbeatOptions;
  /** The feed waits for stored records: that it is behind means nothing. */
  isCatchingUp = false;
  #rows: ShardRows = { sessions: [], brakes: [], phases: [] };
  #rowsAtMs = Number.NEGATIVE_INFINITY;
  #sessionCount = -1;
  #missedCount = 0;
  #problem = '';
  /** Newest cycle that the feed told. */
  #cycle = 0;
  #behindSinceMs: number | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  get isAlive(): boolean {
    return this.#problem === '';
  }

  get problem(): string {
    return this.#problem;
  }

  get cycle(): number {
    return this.#cycle;
  }

  /** The feed has come to this cycle. */
  heard(cycle: number): void {
    this.#cycle = cycle;
    this.#behindSinceMs = undefined;
  }

  /** Resolves after the signal; rejects with a bug only. */
  async run(signal: AbortSignal): Promise<void> {
    const { runtime } = this.#options;
    while (!signal.aborted) {
      await this.#beat(signal);
      await sleep(runtime, EVERY_MS, signal).catch(() => undefined);
    }
  }

  async #beat(signal: AbortSignal): Promise<void> {
    const { runtime, shard, query, onBeat, onMissed, onSilent } = this.#options;
    try {
      const status = await runWithDeadline(
        runtime,
        { ms: ANSWER_WITHIN_MS, parent: signal },
        (cut) => query.getShardStatus({}, { signal: cut }),
      );
      const wrong = status.shardId !== shard;
      this.#missedCount = 0;
      this.#problem = wrong
        ? `at the address of shard ${shard} answers shard ${status.shardId}`
        : this.#behind(status);
      if (wrong) return onMissed(this.#problem);
      await this.#readRows(status, signal);
      onBeat(shardFacts(status, this.#rows));
    } catch (error) {
      if (signal.aborted) return;
      this.#problem = problemOf(error, `shard ${shard}`).message;
      this.#missedCount += 1;
      onMissed(this.#problem);
      if (this.#missedCount >= SILENT_AFTER_BEATS) onSilent();
    }
  }

  /** Why the feed cannot be believed although the shard answers; empty when it can. */
  #behind({ cycle }: ShardStatus): string {
    const nowMs = this.#options.runtime.clock.monotonicMs();
    if (this.isCatchingUp || Number(cycle) <= this.#cycle + 1) this.#behindSinceMs = undefined;
    else this.#behindSinceMs ??= nowMs;
    if (this.#behindSinceMs === undefined || nowMs - this.#behindSinceMs < BEHIND_MS) return '';
    return `the feed is behind: it told cycle ${this.#cycle}, the shard is at ${cycle}`;
  }

  /** A list that cannot be had leaves the rows of before. */
  async #readRows(status: ShardStatus, signal: AbortSignal): Promise<void> {
    const { runtime, query } = this.#options;
    const nowMs = runtime.clock.monotonicMs();
    if (nowMs - this.#rowsAtMs < ROWS_EVERY_MS && status.sessions === this.#sessionCount) return;
    this.#rowsAtMs = nowMs;
    this.#sessionCount = status.sessions;
    const phases = status.phases.slice(0, MAX_PHASES).map(phaseFacts);
    const known = new Map(this.#rows.sessions.map((session) => [session.cluster, session]));
    this.#rows = await runWithDeadline(
      runtime,
      { ms: ROWS_WITHIN_MS, parent: signal },
      async (cut) => {
        const sessions: SessionFacts[] = [];
        for await (const view of query.listSessions({}, { signal: cut })) {
          const facts = sessionFacts(view);
          sessions.push(sharing(facts, known.get(facts.cluster)));
          if (sessions.length >= MAX_SESSIONS) break;
        }
        const brakes: BrakeFacts[] = [];
        for await (const batch of query.listBrakes({}, { signal: cut })) {
          brakes.push(...brakeFacts(batch));
          if (brakes.length >= MAX_BRAKES) break;
        }
        return { sessions, brakes, phases };
      },
    );
  }
}

/** With the names of before while nobody changed them: the history must not hold them again and again. */
function sharing(facts: SessionFacts, before: SessionFacts | undefined): SessionFacts {
  const { phantoms } = facts;
  const isSame =
    before?.phantoms.length === phantoms.length &&
    before.phantoms.every((machine, place) => machine === phantoms[place]);
  return isSame ? { ...facts, phantoms: before.phantoms } : facts;
}
