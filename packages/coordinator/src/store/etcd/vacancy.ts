// Waits until the `leader` key may be free (coordinator §3.3 steps 5 and 7). Three ways to learn of
// it, whichever comes first: the watch, which is immediate; a look every second, because a watch on
// a frozen etcd member says nothing; and the proof that the leader's process is dead, after which
// its lease is revoked. A way that fails is reported and the others go on.

import { BigFleetError, sleep } from '@bigfleet/base';
import { Event_EventType } from '@bigfleet/wire/etcd';
import { type DeadLeaderOptions, untilRefused } from './dead-leader.ts';
import { isSameHolding, type LeaderLook, type LeaderSeen, lookAtLeader } from './leader-key.ts';
import { type EtcdAccess, type EtcdStoreObserver, readDeadlineMs } from './options.ts';

const lookEveryMs = 1_000;

export interface VacancyOptions extends EtcdAccess {
  readonly dialLeader: DeadLeaderOptions['dial'] | undefined;
  readonly observer: EtcdStoreObserver;
}

type Way = (signal: AbortSignal) => Promise<void>;

/** Resolves when it is worth looking again; rejects with the signal's reason. */
export async function untilVacant(
  options: VacancyOptions,
  look: LeaderLook & { readonly leader: LeaderSeen },
  signal: AbortSignal,
): Promise<void> {
  const ways: [string, Way][] = [
    ['watch', (cut) => untilDeleted(options, look.revision + 1n, cut)],
    ['look', (cut) => untilSeenGone(options, look.leader, cut)],
  ];
  if (options.dialLeader !== undefined) {
    ways.push(['dead leader', (cut) => untilRevoked(options, look.leader, cut)]);
  }
  const scope = new AbortController();
  try {
    signal.throwIfAborted();
    await first(ways, AbortSignal.any([signal, scope.signal]), options.observer);
  } finally {
    scope.abort(new BigFleetError('cancelled', 'another way was faster'));
  }
}

/** The first that succeeds. A way that fails is out; an abort of the scope ends all. */
function first(
  ways: readonly [string, Way][],
  signal: AbortSignal,
  observer: EtcdStoreObserver,
): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    for (const [name, way] of ways) {
      way(signal).then(resolve, (error: unknown) => {
        if (!signal.aborted) observer.onProblem?.(`leader ${name}`, error);
      });
    }
  });
}

async function untilDeleted(
  { client, keys }: VacancyOptions,
  startRevision: bigint,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const events of client.watch({ key: keys.leader, startRevision }, signal)) {
      if (events.some(({ type }) => type === Event_EventType.DELETE)) return;
    }
  } catch (error) {
    // What happened in between is gone: look again.
    if (!(error instanceof BigFleetError && error.code === 'etcd_compacted')) throw error;
  }
}

async function untilSeenGone(
  options: VacancyOptions,
  seen: LeaderSeen,
  signal: AbortSignal,
): Promise<void> {
  const { runtime, observer } = options;
  for (;;) {
    await sleep(runtime, lookEveryMs, signal);
    try {
      const { leader } = await lookAtLeader(options, signal);
      if (!isSameHolding(seen, leader)) return;
    } catch (error) {
      signal.throwIfAborted();
      observer.onProblem?.('leader look', error);
    }
  }
}

async function untilRevoked(
  options: VacancyOptions,
  seen: LeaderSeen,
  signal: AbortSignal,
): Promise<void> {
  const { runtime, client, dialLeader: dial, observer } = options;
  if (dial === undefined) return;
  const { grpcAddress } = seen.value;
  await untilRefused({ runtime, grpcAddress, dial }, signal);
  const { leader } = await lookAtLeader(options, signal);
  if (!isSameHolding(seen, leader)) return;
  // Told first: the watch may see the key go, and end this scope, before the answer is here.
  observer.onLeaseRevoked?.();
  await client.leaseRevoke(seen.leaseId, { deadlineMs: readDeadlineMs, signal });
}
