// Finds shards and talks to several of them at once. The coordinator is asked only where they are:
// with --shard-addr a shard is read, paused and resumed while there is no coordinator at all.
// Nothing is asked of a shard before it is known to be the one that was named: a registered address
// may lead to another (`:7780` leads everywhere), and a pause that hits the wrong shard and reports
// success is worse than none. With TLS the certificate says who it is, else the shard itself.

import { BigFleetError, runWithDeadline } from '@bigfleet/base';
import {
  type CallOptions,
  type Client,
  createClient,
  RpcError,
  ShardAdmin,
  ShardQuery,
  ShardRead,
} from '@bigfleet/wire';
import { CTL_EXIT } from '../output/report.ts';
import { nameHint } from '../output/text.ts';
import type { CoordinatorLink } from './coordinator.ts';
import { callFailure, describeFailure } from './failure.ts';
import { dialTarget, type LinkOptions, withinTimeout } from './network.ts';

/** Connections at once; 200 shards must not be 200 handshakes. */
const MAX_AT_ONCE = 16;
const MAX_NAMED = 10;

export interface ShardTarget {
  /** Empty when only an address was given. */
  readonly id: string;
  readonly address: string;
}

export interface ShardApi {
  readonly query: Client<typeof ShardQuery>;
  readonly read: Client<typeof ShardRead>;
  readonly admin: Client<typeof ShardAdmin>;
}

export interface ShardSelection {
  /** Ids; none is every registered shard. */
  readonly shards: readonly string[];
  /** Addresses; the coordinator is not asked when there are any. */
  readonly addresses: readonly string[];
}

export interface ShardAnswer<T> {
  readonly shard: ShardTarget;
  readonly value: T;
}

export interface ShardAnswers<T> {
  readonly answers: readonly ShardAnswer<T>[];
  /** One line for each shard that did not answer. */
  readonly problems: readonly string[];
}

export interface ShardsOptions extends LinkOptions {
  readonly coordinator: CoordinatorLink;
}

export interface AskOptions {
  /** A stream that ends when the reader wants it to. */
  readonly isUnbounded?: boolean | undefined;
  /** For whoever judges by itself who answered. */
  readonly isAnyShard?: boolean | undefined;
}

/** The id, or the address when no id is known. */
export function shardLabel({ id, address }: ShardTarget): string {
  return id === '' ? address : id;
}

/** Partial when some answered; failed when none did. */
export function exitCodeOf({ answers, problems }: ShardAnswers<unknown>): number {
  if (problems.length === 0) return CTL_EXIT.ok;
  return answers.length === 0 ? CTL_EXIT.failed : CTL_EXIT.partial;
}

export type ShardWork<T> = (api: ShardApi, call: CallOptions) => Promise<T>;

export class ShardLinks {
  readonly #options: ShardsOptions;
  /** Shards that said who they are; as many as were asked. */
  readonly #verified = new Set<string>();

  constructor(options: ShardsOptions) {
    this.#options = options;
  }

  async find({ shards: ids, addresses }: ShardSelection): Promise<readonly ShardTarget[]> {
    if (addresses.length > 0) return addresses.map((address) => ({ id: '', address }));
    const { shards } = await this.#options.coordinator.ask('list shards', (api, call) =>
      api.coordinator.listShards({}, call),
    );
    const known = shards.map(({ shardId, address }) => ({ id: shardId, address }));
    if (ids.length === 0) return known;
    return [...new Set(ids)].map(
      (id) => known.find((each) => each.id === id) ?? unknown(id, known),
    );
  }

  async ask<T>(
    shard: ShardTarget,
    feature: string,
    work: ShardWork<T>,
    { isUnbounded = false, isAnyShard = false }: AskOptions = {},
  ): Promise<T> {
    const { signal } = this.#options;
    const asked = async (call: CallOptions): Promise<T> => {
      const api = this.#api(shard);
      if (!isAnyShard) await this.#verify(shard, api);
      return work(api, call);
    };
    try {
      return await (isUnbounded ? asked({ signal }) : withinTimeout(this.#options, asked));
    } catch (error) {
      throw callFailure(error, { kind: 'shard', name: shardName(shard) }, feature);
    }
  }

  /** Every shard, a few at a time, in the given order; one that fails does not hide the others. */
  async askAll<T>(
    shards: readonly ShardTarget[],
    feature: string,
    work: ShardWork<T>,
  ): Promise<ShardAnswers<T>> {
    const answers: (ShardAnswer<T> | undefined)[] = shards.map(() => undefined);
    const problems: (string | undefined)[] = shards.map(() => undefined);
    const waiting = shards.entries();
    const worker = async (): Promise<void> => {
      for (const [at, shard] of waiting) {
        try {
          answers[at] = { shard, value: await this.ask(shard, feature, work) };
        } catch (error) {
          problems[at] = describeFailure(error).line;
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(MAX_AT_ONCE, shards.length) }, worker));
    return {
      answers: answers.filter((answer) => answer !== undefined),
      problems: problems.filter((problem) => problem !== undefined),
    };
  }

  async #verify(shard: ShardTarget, { query }: ShardApi): Promise<void> {
    const { runtime, timeoutMs, signal, tls } = this.#options;
    const key = `${shard.id} ${shard.address}`;
    if (shard.id === '' || tls !== undefined || this.#verified.has(key)) return;
    const answering = await runWithDeadline(runtime, { ms: timeoutMs, parent: signal }, (cut) =>
      idOf(query, { signal: cut }),
    );
    if (answering !== undefined && answering !== shard.id) {
      const problem = `at the address of ${shardName(shard)} answers shard ${answering}`;
      throw new BigFleetError('shard_identity_mismatch', `${problem}; nothing was asked of it`);
    }
    this.#verified.add(key);
  }

  #api(shard: ShardTarget): ShardApi {
    const { channels, tls } = this.#options;
    const target = dialTarget(shard.address);
    if (target === undefined) {
      throw new BigFleetError(
        'shard_unreachable',
        `${shardName(shard)}: ${JSON.stringify(shard.address)} is no address to dial`,
      );
    }
    const serverIdentity =
      shard.id === '' ? ({ kind: 'shard' } as const) : ({ kind: 'shard', id: shard.id } as const);
    const channel = channels.to({ target, tls, serverIdentity });
    return {
      query: createClient(ShardQuery, channel),
      read: createClient(ShardRead, channel),
      admin: createClient(ShardAdmin, channel),
    };
  }
}

/** Undefined: it is older than the question. */
async function idOf(query: ShardApi['query'], call: CallOptions): Promise<string | undefined> {
  try {
    return (await query.getShardStatus({}, call)).shardId;
  } catch (error) {
    if (error instanceof RpcError && error.code === 'UNIMPLEMENTED') return undefined;
    throw error;
  }
}

function shardName({ id, address }: ShardTarget): string {
  return id === '' ? `the shard at ${address}` : `shard ${id} at ${address || '(no address)'}`;
}

function unknown(id: string, known: readonly ShardTarget[]): never {
  const ids = known.map((each) => each.id);
  const rest = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : '';
  const names = `${ids.slice(0, MAX_NAMED).join(', ')}${rest}`;
  const hint = nameHint(ids, id, `registered are: ${names || 'none'}`);
  throw new BigFleetError('shard_not_registered', `no shard ${id} is registered; ${hint}`);
}
