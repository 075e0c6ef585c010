// The reader of one shard that a dashboard is, as a process of its own, so that what reading costs is not the
// shard's: the feed with machines, needs and records; the status once a second; sessions and brakes every five;
// the stored records after a snapshot. Frames are told apart by their first bytes and not decoded: on two
// cores a reader that decodes would take time from the shard that is measured.
//
// A slow reader rests after every frame, so that the shard keeps for it what it has not read; one that falls too far
// behind is told so and gets a snapshot again.

import { setTimeout as sleep } from 'node:timers/promises';
import { realRuntime } from '@bigfleet/base/real';
import {
  type Channel,
  createGrpcChannel,
  decode,
  encodeInit,
  ListRecordsRequestSchema,
  pathOf,
  ShardQuery,
  tlsFromFlags,
  WatchFrameSchema,
  WatchRequestSchema,
} from '@bigfleet/wire';
import { answerQuestions, type Answers } from '../../harness/answer-questions.ts';
import type { PemFiles } from '../../shard/order.ts';

export interface ReaderOrder {
  readonly target: string;
  readonly tls: PemFiles;
}

export const FRAME_KINDS = [
  'hello',
  'snapshot',
  'snapshotEnd',
  'delta',
  'record',
  'lagged',
] as const;
export type FrameCounts = Record<(typeof FRAME_KINDS)[number], number>;

/** Field numbers of services.proto: the oneof begins at 2, `cursor` stands in front of it. */
const CURSOR_TAG = 0x0a;
const FIRST_KIND = 2;
/** As in packages/dashboard/src/server/sources. */
const STATUS_EVERY_MS = 1_000;
const LISTS_EVERY_BEATS = 5;
const STORED_MS = 3_600_000;
const STORED_BYTES = 16 * 2 ** 20;
const EMPTY = new Uint8Array();

export function noFrames(): FrameCounts {
  return { hello: 0, snapshot: 0, snapshotEnd: 0, delta: 0, record: 0, lagged: 0 };
}

/** What a WatchFrame is, from its first bytes. */
export function kindOf(frame: Uint8Array): (typeof FRAME_KINDS)[number] {
  const at = frame[0] === CURSOR_TAG ? 2 + (frame[1] ?? 0) : 0;
  const kind = FRAME_KINDS[((frame[at] ?? 0) >>> 3) - FIRST_KIND];
  if (kind === undefined) throw new Error(`no frame of the feed begins with ${frame[at]}`);
  return kind;
}

class Attached {
  readonly frames: FrameCounts = noFrames();
  bytes = 0;
  /** Of the last whole snapshot. */
  machines = 0;
  needs = 0;
  /** How often stored records were asked for and read. */
  storedReads = 0;
  #storedUntilMs = 0;
  readonly #stop = new AbortController();
  readonly #channel: Channel;
  readonly #pauseMs: number;
  readonly #ended: Promise<unknown>;
  problem: Error | undefined;

  constructor(channel: Channel, pauseMs: number) {
    this.#channel = channel;
    this.#pauseMs = pauseMs;
    this.#ended = Promise.all([this.#watch(), this.#beat()]).catch((error: unknown) => {
      if (!this.#stop.signal.aborted) this.problem = new Error('the feed ended', { cause: error });
    });
  }

  async detach(): Promise<void> {
    this.#stop.abort(new Error('detached'));
    await this.#ended;
    this.#channel.close();
  }

  async #watch(): Promise<void> {
    const request = encodeInit(WatchRequestSchema, { machines: true, needs: true, records: true });
    for await (const frame of this.#stream('watch', request)) {
      const kind = kindOf(frame);
      this.frames[kind] += 1;
      this.bytes += frame.length;
      if (kind === 'snapshotEnd') await this.#whole(frame);
      if (this.#pauseMs > 0) await sleep(this.#pauseMs, undefined, { signal: this.#stop.signal });
    }
  }

  async #whole(bytes: Uint8Array): Promise<void> {
    const { frame } = decode(WatchFrameSchema, bytes, 'INTERNAL');
    if (frame.case !== 'snapshotEnd') throw new Error(`a ${frame.case} was taken for an end`);
    this.machines = frame.value.machines;
    this.needs = frame.value.needs;
    const nowMs = Date.now();
    const fromMs = Math.max(this.#storedUntilMs, nowMs - STORED_MS);
    this.#storedUntilMs = nowMs;
    const range = encodeInit(ListRecordsRequestSchema, {
      fromUnixNanos: BigInt(fromMs) * 1_000_000n,
      toUnixNanos: BigInt(nowMs) * 1_000_000n,
    });
    let stored = 0;
    for await (const record of this.#stream('listRecords', range)) {
      stored += record.length;
      if (stored > STORED_BYTES) break;
    }
    this.storedReads += 1;
  }

  async #beat(): Promise<void> {
    const { signal } = this.#stop;
    for (let beat = 0; !signal.aborted; beat++) {
      await this.#channel.unary(pathOf(ShardQuery.method.getShardStatus), EMPTY, { signal });
      if (beat % LISTS_EVERY_BEATS === 0) {
        for await (const _ of this.#stream('listSessions', EMPTY));
        for await (const _ of this.#stream('listBrakes', EMPTY));
      }
      await sleep(STATUS_EVERY_MS, undefined, { signal });
    }
  }

  #stream(
    method: 'watch' | 'listRecords' | 'listSessions' | 'listBrakes',
    request: Uint8Array,
  ): AsyncIterable<Uint8Array> {
    const once = (async function* () {
      yield request;
    })();
    const { signal } = this.#stop;
    return this.#channel.stream(pathOf(ShardQuery.method[method]), once, { signal });
  }
}

export function readFeed({ target, tls: files }: ReaderOrder): Answers {
  const tls = tlsFromFlags({ ...files, requireTls: true });
  if (tls === 'plaintext') throw new Error('a reader of a shard is mTLS');
  const serverIdentity = { kind: 'shard', id: 'shard-0' } as const;
  let attached: Attached | undefined;
  return {
    /** The argument is how long it rests after a frame. */
    attach: (pauseMs) => {
      if (attached !== undefined) throw new Error('attached already');
      const channel = createGrpcChannel({ runtime: realRuntime(), target, tls, serverIdentity });
      attached = new Attached(channel, pauseMs);
    },
    detach: async () => {
      const was = attached;
      attached = undefined;
      await was?.detach();
      return was?.bytes ?? 0;
    },
    seen: () => {
      if (attached?.problem !== undefined) throw attached.problem;
      const { frames = noFrames(), bytes = 0, machines = 0, needs = 0 } = attached ?? {};
      return { ...frames, bytes, machines, needs, storedReads: attached?.storedReads ?? 0 };
    },
  };
}

if (process.argv[1] === import.meta.filename) {
  answerQuestions(Promise.resolve(JSON.parse(process.argv[2] ?? '') as ReaderOrder).then(readFeed));
}
