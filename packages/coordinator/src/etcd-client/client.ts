// The thin client of etcd v3: typed calls with a deadline each, endpoint failover, TLS, user and
// password. Reads and lease calls are retried over the endpoints; a transaction is sent exactly
// once and its outcome may be `unknown`. No cache, no session object, no background work: leases
// are renewed and watches resumed by whoever owns them.

import { BigFleetError, type Runtime } from '@bigfleet/base';
import type { TlsMaterial } from '@bigfleet/wire';
import type {
  AlarmResponse,
  Event,
  Member,
  RangeResponse,
  ResponseHeader,
  SnapshotResponse,
  TxnResponse,
} from '@bigfleet/wire/etcd';
import {
  AuthToken,
  type EtcdUser,
  type CallLimits,
  EtcdCaller,
  type EtcdCall,
  type OnceOutcome,
} from './caller.ts';
import { type Connection, connectTo, parseEndpoints, ConnectionPool } from './connection.ts';
import { type WatchRequest, watchKeys } from './watch.ts';

export interface EtcdClientOptions {
  readonly runtime: Runtime;
  /** `http://host:port`, `https://host:port` or `host:port`; all of one cluster. */
  readonly endpoints: readonly string[];
  /** Required by an https endpoint. */
  readonly tls?: TlsMaterial | undefined;
  readonly user?: EtcdUser | undefined;
}

type RangeInit = Parameters<Connection['kv']['range']>[0];
type PutInit = Parameters<Connection['kv']['put']>[0];
export type TxnInit = Parameters<Connection['kv']['txn']>[0];

export interface GrantedLease {
  readonly id: bigint;
  /** What etcd granted: it raises what is below its own minimum. */
  readonly ttlMs: number;
  /** Monotonic, of sending: the lease cannot end before this plus its TTL. */
  readonly sentAtMs: number;
}

export class EtcdClient {
  readonly #runtime: Runtime;
  readonly #pool: ConnectionPool;
  readonly #caller: EtcdCaller;
  /** `header.raft_term` of the most recent answer; 0 before the first. */
  raftTerm = 0n;

  constructor(options: EtcdClientOptions) {
    const { runtime, tls, user } = options;
    const endpoints = parseEndpoints(options.endpoints);
    if (tls === undefined && endpoints.some(({ isTls }) => isTls)) {
      throw new BigFleetError('etcd_bad_endpoint', 'an https endpoint of etcd needs TLS files');
    }
    this.#runtime = runtime;
    this.#pool = new ConnectionPool(endpoints.map((at) => connectTo(runtime, at, tls)));
    const token = user === undefined ? undefined : new AuthToken(user);
    this.#caller = new EtcdCaller(runtime, this.#pool, token);
  }

  /** How often an endpoint was left because it failed. */
  get failoverCount(): number {
    return this.#pool.moveCount;
  }

  range(request: RangeInit, limits: CallLimits): Promise<RangeResponse> {
    return this.#read('range', limits, ({ kv }, options) => kv.range(request, options));
  }

  /** Put without guards: only for keys that one process owns, such as its own registration. */
  async put(request: PutInit, limits: CallLimits): Promise<void> {
    await this.#read('put', limits, ({ kv }, options) => kv.put(request, options));
  }

  /** Exactly one request. `unknown` must be resolved by reading, never by sending it again. */
  async txn(request: TxnInit, limits: CallLimits): Promise<OnceOutcome<TxnResponse>> {
    const outcome = await this.#caller.once('txn', limits, ({ kv }, options) =>
      kv.txn(request, options),
    );
    if (outcome.kind === 'done') this.#note(outcome.value.header);
    return outcome;
  }

  /** A transaction of reads only may be asked twice. */
  readTxn(request: TxnInit, limits: CallLimits): Promise<TxnResponse> {
    return this.#read('read', limits, ({ kv }, options) => kv.txn(request, options));
  }

  /** A grant whose answer was lost leaves a lease that nobody renews; it ends by its TTL. */
  async leaseGrant(ttlSeconds: number, limits: CallLimits): Promise<GrantedLease> {
    let sentAtMs = 0;
    const granted = await this.#read('lease grant', limits, ({ lease }, options) => {
      sentAtMs = this.#runtime.clock.monotonicMs();
      return lease.leaseGrant({ TTL: BigInt(ttlSeconds) }, options);
    });
    if (granted.error !== '') throw new BigFleetError('etcd_refused', `lease: ${granted.error}`);
    return { id: granted.ID, ttlMs: Number(granted.TTL) * 1_000, sentAtMs };
  }

  /**
   * One renewal on a stream of its own: each has its own deadline and its own moment of sending,
   * and the next one may go through another endpoint. Throws `etcd_lease_gone`.
   */
  async leaseKeepAlive(id: bigint, limits: CallLimits): Promise<GrantedLease> {
    let sentAtMs = 0;
    const renewed = await this.#read('lease keep-alive', limits, async ({ lease }, options) => {
      sentAtMs = this.#runtime.clock.monotonicMs();
      const answers = lease.leaseKeepAlive(single({ ID: id }), options);
      const first = await answers.next();
      await answers.return?.();
      if (first.done === true) throw new BigFleetError('etcd_unavailable', 'no keep-alive answer');
      return first.value;
    });
    if (renewed.TTL <= 0n) throw new BigFleetError('etcd_lease_gone', `lease ${id} has ended`);
    return { id, ttlMs: Number(renewed.TTL) * 1_000, sentAtMs };
  }

  /** A lease that is already gone counts as revoked. */
  async leaseRevoke(id: bigint, limits: CallLimits): Promise<void> {
    try {
      await this.#read('lease revoke', limits, ({ lease }, options) =>
        lease.leaseRevoke({ ID: id }, options),
      );
    } catch (error) {
      if (!(error instanceof BigFleetError && error.code === 'etcd_lease_gone')) throw error;
    }
  }

  /** From `startRevision` on, over any number of reconnects; throws `etcd_compacted`. */
  watch(request: WatchRequest, signal: AbortSignal): AsyncGenerator<readonly Event[]> {
    return watchKeys({
      runtime: this.#runtime,
      pool: this.#pool,
      caller: this.#caller,
      request,
      signal,
    });
  }

  async memberList(limits: CallLimits): Promise<readonly Member[]> {
    const { members } = await this.#read('member list', limits, ({ cluster }, options) =>
      cluster.memberList({}, options),
    );
    return members;
  }

  /** Membership changes are sent once; the caller looks at the list again before another try. */
  async memberAddLearner(peerUrl: string, limits: CallLimits): Promise<Member | undefined> {
    const request = { peerURLs: [peerUrl], isLearner: true };
    const { member } = await this.#change('member add', limits, ({ cluster }, options) =>
      cluster.memberAdd(request, options),
    );
    return member;
  }

  async memberUpdate(id: bigint, peerUrl: string, limits: CallLimits): Promise<void> {
    await this.#change('member update', limits, ({ cluster }, options) =>
      cluster.memberUpdate({ ID: id, peerURLs: [peerUrl] }, options),
    );
  }

  async memberRemove(id: bigint, limits: CallLimits): Promise<void> {
    await this.#change('member remove', limits, ({ cluster }, options) =>
      cluster.memberRemove({ ID: id }, options),
    );
  }

  async memberPromote(id: bigint, limits: CallLimits): Promise<void> {
    await this.#change('member promote', limits, ({ cluster }, options) =>
      cluster.memberPromote({ ID: id }, options),
    );
  }

  alarms(limits: CallLimits): Promise<AlarmResponse> {
    return this.#read('alarms', limits, ({ maintenance }, options) =>
      maintenance.alarm({}, options),
    );
  }

  /**
   * The database of one member, as of after it has answered a linearizable read of `key`: that makes
   * sure that it has applied everything acknowledged.
   */
  async snapshot(key: Uint8Array, limits: CallLimits): Promise<AsyncIterable<SnapshotResponse>> {
    const connection = await this.#read('read before snapshot', limits, async (at, options) => {
      await at.kv.range({ key }, options);
      return at;
    });
    // The stream is read at the pace of its consumer, who bounds it by `limits.signal`.
    const signal = limits.signal ?? new AbortController().signal;
    const metadata = await this.#caller.metadata(connection, signal);
    return connection.maintenance.snapshot({}, { signal, metadata });
  }

  close(): void {
    this.#pool.close();
  }

  async #read<T extends object>(what: string, limits: CallLimits, call: EtcdCall<T>): Promise<T> {
    const answer = await this.#caller.retried(what, limits, call);
    if ('header' in answer) this.#note(answer.header as ResponseHeader | undefined);
    return answer;
  }

  async #change<T>(what: string, limits: CallLimits, call: EtcdCall<T>): Promise<T> {
    const outcome = await this.#caller.once(what, limits, call);
    if (outcome.kind !== 'done') throw outcome.error;
    return outcome.value;
  }

  #note(header: ResponseHeader | undefined): void {
    if (header !== undefined) this.raftTerm = header.raftTerm;
  }
}

async function* single<T>(value: T): AsyncIterable<T> {
  yield value;
}
