// Reads the coordinator every two seconds: who leads, which shards are registered and how long their
// instructions wait, which cluster belongs to which, and what is being moved. Any replica says who leads; lists are the leader's alone. A leader's
// address is a hint and nothing more: identity is checked there in full. Without a coordinator the rest of
// the dashboard goes on with what it knows.

import { type Runtime, runWithDeadline, sleep } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import {
  type Channel,
  type Client,
  Coordinator,
  CoordinatorAdmin,
  createClient,
  getOwn,
  type GetStatusResponse,
  TransferRecordPhase,
} from '@bigfleet/wire';
import type { Source } from '../../api/index.ts';
import type { CoordinatorFacts } from '../../model/index.ts';
import { dialTarget, type Network, problemOf } from './network.ts';
import { clipped, enumName, msOf } from './translate.ts';

export interface RegisteredShard {
  readonly shard: string;
  readonly address: string;
}

export interface CoordinatorReaderOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly network: Network;
  readonly addresses: readonly string[];
  readonly onFacts: (facts: CoordinatorFacts) => void;
  readonly onShards: (shards: readonly RegisteredShard[]) => void;
  readonly onSource: (source: Source) => void;
}

const EVERY_MS = 2_000;
const ANSWER_WITHIN_MS = 2_000;
const MAX_BINDINGS = 5_000;
const MAX_TRANSFERS = 500;
const MAX_CHANNELS = 16;

export class CoordinatorReader {
  readonly #options: CoordinatorReaderOptions;
  /** By target; bound: replicas that were ever named. */
  readonly #channels = new Map<string, Channel>();
  /** Where lists were answered last. */
  #leader: string | undefined;
  #source: Source;
  #toldFacts = '';
  /** Since when a shard always had instructions without an answer. */
  #pendingSince: ReadonlyMap<string, number> = new Map();

  constructor(options: CoordinatorReaderOptions) {
    this.#options = options;
    this.#source = {
      kind: 'coordinator',
      name: options.addresses.join(','),
      state: 'connecting',
      sinceMs: this.#nowMs(),
      dataMs: null,
      problem: '',
      flag: '--coordinator',
    };
    options.onSource(this.#source);
  }

  /** Resolves after the signal; rejects with a bug only. */
  async run(signal: AbortSignal): Promise<void> {
    const { runtime } = this.#options;
    try {
      while (!signal.aborted) {
        await this.#read(signal);
        await sleep(runtime, EVERY_MS, signal).catch(() => undefined);
      }
    } finally {
      for (const channel of this.#channels.values()) channel.close();
      this.#channels.clear();
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { addresses, onShards } = this.#options;
    const targets = addresses.map(dialTarget);
    let problem = 'no coordinator replica leads';
    /** A redirect loop between replicas that disagree ends here. */
    const tried = new Set<string>();
    const queue = this.#leader === undefined ? [...targets] : [this.#leader, ...targets];
    for (
      let target = queue.shift();
      target !== undefined && !signal.aborted;
      target = queue.shift()
    ) {
      if (tried.has(target) || tried.size > addresses.length + 2) continue;
      tried.add(target);
      try {
        const status = await this.#ask(target, signal, ({ admin }, cut) =>
          admin.getStatus({}, { signal: cut }),
        );
        if (!status.isLeader) {
          if (status.leaderAddress !== '') queue.unshift(dialTarget(status.leaderAddress));
          continue;
        }
        const lists = await this.#ask(target, signal, readLists);
        this.#leader = target;
        onShards(lists.shards);
        const waiting = this.#waiting(status, lists.shards);
        this.#tellFacts({ status: statusFacts(status), ...lists.facts, queue: waiting });
        return this.#tell('live', '');
      } catch (error) {
        if (signal.aborted) return;
        problem = problemOf(error, `the coordinator at ${target}`).message;
      }
    }
    this.#leader = undefined;
    if (signal.aborted) return;
    this.#tell(this.#source.dataMs === null ? 'connecting' : 'stale', problem);
  }

  /** Only a leader that knows the field has entries at all: without any it has told nothing. */
  #waiting(
    { pendingInstructions }: GetStatusResponse,
    shards: readonly ListedShard[],
  ): CoordinatorFacts['queue'] {
    const isTold = Object.keys(pendingInstructions).length > 0;
    const since = new Map<string, number>();
    const rows = shards.map(({ shard, reportMs }) => {
      const pending = isTold ? Math.max(0, getOwn(pendingInstructions, shard) ?? 0) : null;
      if (pending !== null && pending > 0) {
        since.set(shard, this.#pendingSince.get(shard) ?? this.#nowMs());
      }
      const pendingSinceMs = since.get(shard) ?? null;
      return { shard: clipped(shard), pending, pendingSinceMs, reportMs };
    });
    this.#pendingSince = since;
    return rows;
  }

  /** Only what differs: every change makes pages be computed again. */
  #tellFacts(facts: CoordinatorFacts): void {
    const text = JSON.stringify(facts);
    if (text === this.#toldFacts) return;
    this.#toldFacts = text;
    this.#options.onFacts(facts);
  }

  #ask<T>(
    target: string,
    parent: AbortSignal,
    work: (api: CoordinatorApi, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const channel = this.#channelTo(target);
    const api = {
      coordinator: createClient(Coordinator, channel),
      admin: createClient(CoordinatorAdmin, channel),
    };
    return runWithDeadline(this.#options.runtime, { ms: ANSWER_WITHIN_MS, parent }, (signal) =>
      work(api, signal),
    );
  }

  #channelTo(target: string): Channel {
    const known = this.#channels.get(target);
    if (known !== undefined) return known;
    if (this.#channels.size >= MAX_CHANNELS) {
      for (const channel of this.#channels.values()) channel.close();
      this.#channels.clear();
    }
    const channel = this.#options.network.connect({ target, serverIdentity: { kind: 'admin' } });
    this.#channels.set(target, channel);
    return channel;
  }

  #tell(state: Source['state'], problem: string): void {
    const { onSource, logger } = this.#options;
    const before = this.#source;
    const nowMs = this.#nowMs();
    const isSame = before.state === state && before.problem === problem;
    const sinceMs = before.state === state ? before.sinceMs : nowMs;
    const dataMs = state === 'live' ? nowMs : before.dataMs;
    this.#source = { ...before, state, problem, sinceMs, dataMs };
    if (isSame) return;
    if (before.state !== state)
      logger.info('a source changed', { coordinator: before.name, state, problem });
    onSource(this.#source);
  }

  #nowMs(): number {
    return msOf(this.#options.runtime.clock.unixNanos());
  }
}

interface CoordinatorApi {
  readonly coordinator: Client<typeof Coordinator>;
  readonly admin: Client<typeof CoordinatorAdmin>;
}

interface ListedShard extends RegisteredShard {
  /** Null is none in this leadership. */
  readonly reportMs: number | null;
}

interface Lists {
  readonly shards: readonly ListedShard[];
  readonly facts: Omit<CoordinatorFacts, 'status' | 'queue'>;
}

async function readLists(
  { coordinator, admin }: CoordinatorApi,
  signal: AbortSignal,
): Promise<Lists> {
  const [{ shards }, { bindings }, { transfers }] = await Promise.all([
    coordinator.listShards({}, { signal }),
    admin.listClusterBindings({}, { signal }),
    admin.listTransfers({ includeClosed: true }, { signal }),
  ]);
  const newest = transfers.toSorted((a, b) => (a.updatedAtUnixNs < b.updatedAtUnixNs ? 1 : -1));
  return {
    shards: shards.map(({ shardId, address, lastHeartbeatUnixNs }) => ({
      shard: shardId,
      address,
      reportMs: lastHeartbeatUnixNs === 0n ? null : msOf(lastHeartbeatUnixNs),
    })),
    facts: {
      bindings: bindings
        .slice(0, MAX_BINDINGS)
        .map(({ clusterId, shardId, conflictingShardId }) => ({
          cluster: clipped(clusterId),
          shard: clipped(shardId),
          conflict: clipped(conflictingShardId),
        })),
      transfers: newest.slice(0, MAX_TRANSFERS).map((transfer) => ({
        id: clipped(transfer.transferId),
        from: clipped(transfer.fromShardId),
        to: clipped(transfer.toShardId),
        phase: enumName(TransferRecordPhase, transfer.phase),
        machines: transfer.machineIds.length,
        reason: clipped(transfer.reasonCode),
        createdMs: msOf(transfer.createdAtUnixNs),
        updatedMs: msOf(transfer.updatedAtUnixNs),
      })),
    },
  };
}

function statusFacts(status: GetStatusResponse): CoordinatorFacts['status'] {
  return {
    node: clipped(status.nodeId),
    isLeader: status.isLeader,
    leader: clipped(status.leaderNodeId),
    leaderAddress: clipped(status.leaderAddress),
    term: String(status.coordinatorTerm),
    applyIndex: String(status.applyIndex),
    engine: clipped(status.storeEngine),
    replicas: status.replicas.map(clipped),
    recoveringProviders: status.recoveringProviders.map(clipped),
    version: clipped(status.version),
  };
}
