// Follows one shard for as long as the dashboard runs. Three conversations, so that none waits for another:
//
// - the feed: snapshot, deltas and records, resumed from its cursor when it breaks;
// - the status, once a second: the heartbeat that tells a quiet shard from a silent one;
// - stored records, after every snapshot: those that were decided while nobody followed.
//
// A feed that ends is stale at once; a shard that does not answer is stale when its heartbeat is overdue.

import { Backoff, type Runtime, sleep } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import {
  type Channel,
  type Client,
  createClient,
  ShardQuery,
  type WatchFrame,
} from '@bigfleet/wire';
import type { Source } from '../../api/index.ts';
import type { RecordFacts, ShardFeed } from '../../model/index.ts';
import { problemOf } from './network.ts';
import { ShardHeartbeat } from './shard-heartbeat.ts';
import { storedRecords } from './stored-records.ts';
import { cycleFacts, type LabelKeys, machineFacts, needFacts, recordFacts } from './translate.ts';

export interface FollowOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly shard: string;
  readonly channel: Channel;
  readonly feed: ShardFeed;
  readonly keys: LabelKeys;
}

const BACKOFF = { initialMs: 250, maxMs: 5_000 };
const NO_CURSOR = new Uint8Array();
/** Without an answer and without a frame for so long, a connection is given up. */
const SILENT_MS = 5_000;
/** How far back decisions are fetched at the start. */
const BACKFILL_MS = 3_600_000;

export class ShardFollower {
  readonly query: Client<typeof ShardQuery>;
  readonly #options: FollowOptions;
  readonly #heartbeat: ShardHeartbeat;
  #cursor: Uint8Array = NO_CURSOR;
  #epoch = 0n;
  /** The feed stands: a snapshot is whole, or a resumed stream goes on. */
  #isWhole = false;
  /** Of the newest record that was told; never ahead of our clock, or nothing missed later would be fetched. */
  #recordsUntilMs = 0;
  #told: Pick<Source, 'state' | 'problem'> = { state: 'connecting', problem: '' };
  #hasEverBeenLive = false;
  #stream = new AbortController();
  /** When the stream brought something last, or began. */
  #heardMs = 0;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.query = createClient(ShardQuery, options.channel);
    this.#heartbeat = new ShardHeartbeat({
      ...options,
      query: this.query,
      onBeat: (facts) => {
        options.feed.status(facts);
        this.#judge('');
      },
      onMissed: (problem) => this.#judge(problem),
      onSilent: () => this.#giveUpSilent(),
    });
    options.feed.source('connecting', '');
  }

  get epoch(): bigint {
    return this.#epoch;
  }

  /** Resolves after the signal; rejects with a bug only. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#follow(signal), this.#heartbeat.run(signal)]);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { runtime } = this.#options;
    const backoff = new Backoff(runtime.random, BACKOFF);
    while (!signal.aborted) {
      this.#stream = new AbortController();
      this.#heardMs = runtime.clock.monotonicMs();
      const ended = AbortSignal.any([signal, this.#stream.signal]);
      const problem = await this.#readStream(ended, () => backoff.reset());
      if (signal.aborted) return;
      this.#isWhole = false;
      this.#judge(problem);
      await sleep(runtime, backoff.nextMs(), signal).catch(() => undefined);
    }
  }

  /**
   * A shard that accepts bytes and answers nothing may answer on another connection. While frames come, the shard
   * or this process is only slow: giving up would begin the same snapshot again, and never end one.
   */
  #giveUpSilent(): void {
    const silentMs = this.#options.runtime.clock.monotonicMs() - this.#heardMs;
    if (silentMs >= SILENT_MS) this.#stream.abort(new Error('the shard is silent'));
  }

  /** Until the stream ends, for whatever reason; says why. */
  async #readStream(signal: AbortSignal, onOpen: () => void): Promise<string> {
    const { shard, logger } = this.#options;
    const request = { cursor: this.#cursor, machines: true, needs: true, records: true };
    const frames = this.query.watch(request, { signal });
    let problem = `the feed of shard ${shard} ended`;
    try {
      for (;;) {
        const next = await frames.next().catch((error: unknown) => {
          problem = signal.aborted ? problem : problemOf(error, `shard ${shard}`).message;
          return undefined;
        });
        if (next === undefined || next.done === true) break;
        this.#heardMs = this.#options.runtime.clock.monotonicMs();
        const refusal = await this.#take(next.value, signal);
        if (refusal !== undefined) {
          problem = refusal;
          // Whatever was wrong with it: the next stream begins with a snapshot.
          this.#cursor = NO_CURSOR;
          break;
        }
        onOpen();
      }
    } finally {
      await frames.return?.();
    }
    logger.debug('a feed ended', { shard, problem });
    return problem;
  }

  /** Says why the stream cannot go on; undefined when it can. */
  async #take({ frame, cursor }: WatchFrame, signal: AbortSignal): Promise<string | undefined> {
    const { shard, feed, keys } = this.#options;
    switch (frame.case) {
      case 'hello': {
        const { shardId, shardEpoch, cycle, resumed } = frame.value;
        if (shardId !== shard) return `at the address of shard ${shard} answers shard ${shardId}`;
        this.#epoch = shardEpoch;
        this.#isWhole = resumed;
        feed.begin({ epoch: shardEpoch, cycle: Number(cycle), isResumed: resumed });
        this.#heartbeat.heard(Number(cycle));
        break;
      }
      case 'lagged':
        this.#isWhole = false;
        feed.begin({ epoch: this.#epoch, cycle: this.#heartbeat.cycle, isResumed: false });
        break;
      case 'snapshot': {
        const { machines, needs } = frame.value;
        feed.snapshotPart(
          machines.map((view) => machineFacts(view, keys)),
          needs.map(needFacts),
        );
        break;
      }
      case 'snapshotEnd': {
        const { machines, needs } = frame.value;
        const whole = feed.snapshotEnd({ machines, needs, atMs: this.#nowMs() });
        if (!whole.ok) return whole.error.message;
        this.#isWhole = true;
        this.#judge('');
        this.#heartbeat.isCatchingUp = true;
        await this.#fetchMissed(signal);
        this.#heartbeat.isCatchingUp = false;
        break;
      }
      case 'record':
        this.#tellRecord(recordFacts(frame.value));
        break;
      case 'delta':
        feed.cycle(cycleFacts(frame.value, keys));
        this.#heartbeat.heard(Number(frame.value.cycle));
        break;
      default:
        break;
    }
    if (cursor.length > 0) this.#cursor = cursor;
    if (this.#isWhole) this.#judge('');
    return undefined;
  }

  /** What was decided while nobody followed. The feed goes on without it when it cannot be had. */
  async #fetchMissed(signal: AbortSignal): Promise<void> {
    const { runtime, logger, shard } = this.#options;
    const nowMs = this.#nowMs();
    const fromMs = Math.max(this.#recordsUntilMs, nowMs - BACKFILL_MS);
    const missed = await storedRecords({ runtime, query: this.query, fromMs, toMs: nowMs, signal });
    for (const record of missed.records) this.#tellRecord(record);
    if (missed.problem !== undefined) {
      const err = problemOf(missed.problem, `shard ${shard}`).message;
      logger.warn('decisions of the past could not be fetched', { shard, err });
    }
  }

  #tellRecord(record: RecordFacts): void {
    const atMs = Math.min(record.atMs, this.#nowMs());
    this.#recordsUntilMs = Math.max(this.#recordsUntilMs, atMs);
    this.#options.feed.record(record);
  }

  /** Tells the source's state when it has changed. `problem` is why it is not live. */
  #judge(problem: string): void {
    const { feed, shard, logger } = this.#options;
    const isLive = this.#isWhole && this.#heartbeat.isAlive;
    this.#hasEverBeenLive ||= isLive;
    const state = isLive ? 'live' : this.#hasEverBeenLive ? 'stale' : 'connecting';
    const words = isLive ? '' : problem || this.#heartbeat.problem || this.#told.problem;
    if (state === this.#told.state && words === this.#told.problem) return;
    if (state !== this.#told.state)
      logger.info('a source changed', { shard, state, problem: words });
    this.#told = { state, problem: words };
    feed.source(state, words);
  }

  #nowMs(): number {
    return Number(this.#options.runtime.clock.unixNanos() / 1_000_000n);
  }
}
