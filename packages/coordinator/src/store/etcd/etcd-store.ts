// The etcd engine (coordinator §3): three or more replicas, one leader by lease, every write guarded
// by the leader's key. This file is the wiring of one store; each rule lives in a file of its own:
// election, lease window, guards, commit, resolution, confirmation, vacancy. Refuses to write
// outside a leadership and to trust anything it cannot prove by a linearizable read.

import { rm } from 'node:fs/promises';
import { assert, BigFleetError, type Random, sleep } from '@bigfleet/base';
import type { RowKey, LoadedState } from '../../state/rows.ts';
import { logicalSnapshot } from '../logical-snapshot.ts';
import type {
  CommitRequest,
  CommitResult,
  LeaderHint,
  Leadership,
  Resolution,
  Store,
  StoreSnapshot,
  StoreStatus,
} from '../store.ts';
import { bootstrapStore, readClusterUid } from './bootstrap.ts';
import { commitChange, isOurs } from './commit.ts';
import { sharedLook } from './confirmation.ts';
import { tryToWin, type Won, resignLeadership } from './election.ts';
import { KeySpace, textOf } from './key-space.ts';
import { lookAtLeader } from './leader-key.ts';
import { EtcdLeadership } from './leadership.ts';
import { loadLedger } from './load.ts';
import { verifiedSnapshot } from './native-snapshot.ts';
import {
  defaultLeaseTtlMs,
  type EtcdAccess,
  type EtcdStoreObserver,
  type EtcdStoreOptions,
  minLeaseTtlMs,
  readDeadlineMs,
} from './options.ts';
import { resolveCommit } from './resolve.ts';
import { readRestoreFloor } from './restore-floor.ts';
import { keepPresence, statusOf } from './status.ts';
import { sweepRows } from './sweep.ts';
import { untilVacant } from './vacancy.ts';
import { replicaValue } from './values.ts';

const maxJitterMs = 250;
const retryMs = 250;

const finalCodes: readonly string[] = [
  'coordinator_store_empty',
  'coordinator_store_newer',
  'coordinator_row_malformed',
];

type Confirmation = 'leading' | 'deposed' | 'timeout';

export class EtcdStore implements Store {
  readonly engine = 'etcd';
  readonly #options: EtcdStoreOptions;
  readonly #access: EtcdAccess;
  readonly #observer: EtcdStoreObserver;
  readonly #random: Random;
  readonly #closed = new AbortController();
  readonly #looks = new WeakMap<EtcdLeadership, () => Promise<Confirmation>>();
  #presence: Promise<void> | undefined;
  #current: EtcdLeadership | undefined;

  constructor(options: EtcdStoreOptions) {
    this.#options = options;
    const { runtime, client, prefix } = options;
    this.#access = { runtime, client, keys: new KeySpace(prefix) };
    this.#observer = options.observer ?? {};
    this.#random = runtime.random.stream('etcd-store');
  }

  async open(): Promise<'ready' | 'empty'> {
    const { bootstrap } = this.#options;
    const { signal } = this.#closed;
    let uid = await readClusterUid(this.#access, signal);
    if (uid === undefined && bootstrap) {
      await bootstrapStore(this.#access, signal);
      uid = await readClusterUid(this.#access, signal);
    }
    this.#presence ??= this.#register(signal);
    return uid === undefined ? 'empty' : 'ready';
  }

  async campaign(signal: AbortSignal, termFloor: bigint = 0n): Promise<Leadership> {
    const either = AbortSignal.any([signal, this.#closed.signal]);
    for (;;) {
      either.throwIfAborted();
      try {
        if (this.#current !== undefined) await this.resign(this.#current);
        const won = await this.#campaignOnce(either, termFloor);
        if (won !== undefined) return await this.#lead(won);
        // Lost the race: the others stood at the same moment, so the next time differs.
        await sleep(this.#options.runtime, this.#random.below(maxJitterMs + 1), either);
      } catch (error) {
        either.throwIfAborted();
        if (isFinal(error)) throw error;
        this.#observer.onProblem?.('campaign', error);
        await sleep(this.#options.runtime, retryMs, either);
      }
    }
  }

  async load(leadership: Leadership): Promise<LoadedState> {
    const ours = asOurs(leadership);
    const ledger = await this.#whileLeading(ours, () => loadLedger(this.#access, ours.lost));
    ours.cursor.rows = ledger.rowRevisions;
    ours.cursor.moveApply(ledger.apply, ledger.applyRevision);
    return ledger;
  }

  commit(leadership: Leadership, request: CommitRequest): Promise<CommitResult> {
    return commitChange(this.#access, asOurs(leadership), request);
  }

  resolve(leadership: Leadership, request: CommitRequest): Promise<Resolution> {
    return resolveCommit(this.#access, asOurs(leadership), request);
  }

  confirm(leadership: Leadership): Promise<Confirmation> {
    const ours = asOurs(leadership);
    let shared = this.#looks.get(ours);
    if (shared === undefined) {
      shared = sharedLook(() => this.#confirmOnce(ours));
      this.#looks.set(ours, shared);
    }
    return shared();
  }

  gc(leadership: Leadership, keys: readonly RowKey[]): Promise<void> {
    const ours = asOurs(leadership);
    return this.#whileLeading(ours, () => sweepRows(this.#access, ours, keys));
  }

  async leader(): Promise<LeaderHint | undefined> {
    const { leader } = await lookAtLeader(this.#access, this.#closed.signal);
    if (leader === undefined) return undefined;
    const { nodeId, grpcAddress, term } = leader.value;
    return { nodeId, grpcAddress, term };
  }

  /** As the member that answers has it, without asking a quorum; empty = it has none yet. */
  async localClusterUid(): Promise<string> {
    const { kvs } = await this.#access.client.range(
      { key: this.#access.keys.clusterUid, serializable: true },
      { deadlineMs: readDeadlineMs, signal: this.#closed.signal },
    );
    return textOf(kvs[0]?.value ?? new Uint8Array());
  }

  async snapshot(format: 'native' | 'logical'): Promise<StoreSnapshot | undefined> {
    const { signal } = this.#closed;
    const { client, keys } = this.#access;
    const ledger = await loadLedger(this.#access, signal);
    if (ledger.apply.index === 0) return undefined;
    if (format === 'logical') return logicalSnapshot(ledger, client.raftTerm);
    const limits = { deadlineMs: readDeadlineMs, signal };
    const chunks = await client.snapshot(keys.apply, limits);
    return {
      format: 'etcd-db',
      meta: ledger.meta,
      storeRaftTerm: client.raftTerm,
      bytes: verifiedSnapshot(chunks),
    };
  }

  status(): Promise<StoreStatus> {
    return statusOf(this.#access);
  }

  async resign(leadership: Leadership): Promise<void> {
    const ours = asOurs(leadership);
    if (ours.lost.aborted) return;
    ours.lose('resigned');
    try {
      await resignLeadership(this.#access, ours);
    } catch (error) {
      // It is over here whatever etcd says; there, the lease ends by itself.
      this.#observer.onProblem?.('resign', error);
    }
  }

  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#current?.lose('resigned');
    this.#closed.abort(new BigFleetError('coordinator_store_closed', 'the store is closed'));
    await this.#presence;
    this.#access.client.close();
  }

  /** Undefined: somebody else won, or the holder of the key may be gone: look again. */
  async #campaignOnce(signal: AbortSignal, termFloor: bigint): Promise<Won | undefined> {
    if ((await readClusterUid(this.#access, signal)) === undefined) {
      const message = 'store is empty and --bootstrap is not set';
      throw new BigFleetError('coordinator_store_empty', message);
    }
    await this.#untilFree(signal);
    const { nodeId, grpcAddress, leaderLeaseTtlMs, restoreFile } = this.#options;
    return tryToWin(
      {
        ...this.#access,
        nodeId,
        grpcAddress,
        leaseTtlMs: Math.max(leaderLeaseTtlMs ?? defaultLeaseTtlMs, minLeaseTtlMs),
        termFloor,
        restore: restoreFile === undefined ? undefined : await readRestoreFloor(restoreFile),
      },
      signal,
    );
  }

  async #untilFree(signal: AbortSignal): Promise<void> {
    const { nodeId, holdsNodeLock, dialLeader } = this.#options;
    const observer = this.#observer;
    for (;;) {
      const { leader, revision } = await lookAtLeader(this.#access, signal);
      if (leader === undefined) return;
      if (leader.value.nodeId === nodeId && holdsNodeLock) {
        // Our own, and no leadership of this process lives: a predecessor's, dead or given up.
        await this.#access.client.leaseRevoke(leader.leaseId, {
          deadlineMs: readDeadlineMs,
          signal,
        });
        observer.onLeaseRevoked?.();
        continue;
      }
      const options = { ...this.#access, dialLeader, observer };
      await untilVacant(options, { leader, revision }, signal);
    }
  }

  async #lead(won: Won): Promise<Leadership> {
    const { restoreFile } = this.#options;
    const leadership = new EtcdLeadership({
      ...this.#access,
      ...won,
      onLost: (reason) => this.#observer.onLost?.(reason),
    });
    this.#current = leadership;
    if (restoreFile !== undefined) await rm(restoreFile, { force: true });
    this.#observer.onWon?.(won.term);
    return leadership;
  }

  async #confirmOnce(leadership: EtcdLeadership): Promise<Confirmation> {
    if (!leadership.stillHolds()) return 'deposed';
    try {
      const { kvs } = await this.#access.client.range(
        { key: this.#access.keys.leader },
        { deadlineMs: readDeadlineMs, signal: leadership.lost },
      );
      if (isOurs(kvs[0], leadership)) return leadership.stillHolds() ? 'leading' : 'deposed';
      leadership.lose('guard_failed');
      return 'deposed';
    } catch (error) {
      if (leadership.lost.aborted) return 'deposed';
      this.#observer.onProblem?.('confirmation', error);
      return 'timeout';
    }
  }

  async #whileLeading<T>(leadership: EtcdLeadership, work: () => Promise<T>): Promise<T> {
    if (!leadership.stillHolds()) throw deposed(leadership);
    try {
      return await work();
    } catch (error) {
      throw leadership.lost.aborted ? deposed(leadership, error) : error;
    }
  }

  #register(signal: AbortSignal): Promise<void> {
    const { nodeId, grpcAddress, peerAddress, version } = this.#options;
    return keepPresence(
      {
        ...this.#access,
        key: this.#access.keys.replica(nodeId),
        value: replicaValue.encode({ grpcAddress, peerAddress, version }),
        observer: this.#observer,
      },
      signal,
    );
  }
}

function asOurs(leadership: Leadership): EtcdLeadership {
  assert(leadership instanceof EtcdLeadership, 'a leadership of another engine');
  return leadership;
}

function deposed({ term }: Leadership, cause?: unknown): BigFleetError {
  return new BigFleetError('coordinator_deposed', `the leadership of term ${term} is over`, {
    cause,
  });
}

/** Waiting does not cure these. */
function isFinal(error: unknown): boolean {
  return error instanceof BigFleetError && finalCodes.includes(error.code);
}
