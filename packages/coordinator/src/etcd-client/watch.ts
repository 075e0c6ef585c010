// A watch that survives reconnects: it resumes at the revision after the last event it handed out,
// on whatever endpoint is in use then, so that no event is lost or seen twice. When etcd has
// compacted that revision away, nobody can say what happened in between: the caller must read anew
// (`etcd_compacted`). Nothing is buffered here: the transport stops reading when the caller does.

import { Backoff, BigFleetError, type Runtime, sleep } from '@bigfleet/base';
import type { Event, WatchResponse } from '@bigfleet/wire/etcd';
import type { EtcdCaller } from './caller.ts';
import type { Connection, ConnectionPool } from './connection.ts';
import { failureOf, toEtcdError } from './failure.ts';

export interface WatchRequest {
  readonly key: Uint8Array;
  readonly startRevision: bigint;
}

export interface WatchSetup {
  readonly runtime: Runtime;
  readonly pool: ConnectionPool;
  readonly caller: EtcdCaller;
  readonly request: WatchRequest;
  readonly signal: AbortSignal;
}

/** Ends only by the signal (throwing its reason) or by `etcd_compacted` and refusals. */
export async function* watchKeys(setup: WatchSetup): AsyncGenerator<readonly Event[]> {
  const { runtime, pool, request, signal } = setup;
  const backoff = new Backoff(runtime.random.stream('etcd-watch'), { initialMs: 50, maxMs: 1_000 });
  let nextRevision = request.startRevision;
  for (;;) {
    signal.throwIfAborted();
    const connection = pool.current;
    try {
      for await (const answer of open(setup, connection, nextRevision)) {
        backoff.reset();
        const events = eventsOf(answer);
        const last = events.at(-1)?.kv;
        if (last === undefined) continue;
        nextRevision = last.modRevision + 1n;
        yield events;
      }
    } catch (error) {
      signal.throwIfAborted();
      const failure = failureOf(error);
      const isOver = error instanceof BigFleetError || failure === 'compacted';
      if (isOver || failure === 'refused') throw toEtcdError('watch', error);
    }
    pool.leave(connection);
    await sleep(runtime, backoff.nextMs(), signal);
  }
}

async function* open(
  { caller, request, signal }: WatchSetup,
  connection: Connection,
  startRevision: bigint,
): AsyncGenerator<WatchResponse> {
  const metadata = await caller.metadata(connection, signal);
  const value = { key: request.key, startRevision };
  const held = holdOpen({ requestUnion: { case: 'createRequest', value } } as const);
  try {
    yield* connection.watch.watch(held.requests, { signal, metadata });
  } finally {
    held.release();
  }
}

/** etcd ends a watch whose client has half-closed, so the request stream stays open. */
function holdOpen<T>(first: T): { requests: AsyncIterable<T>; release: () => void } {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  async function* requests(): AsyncGenerator<T> {
    yield first;
    await released;
  }
  return { requests: requests(), release };
}

function eventsOf(answer: WatchResponse): readonly Event[] {
  if (answer.compactRevision > 0n) {
    throw new BigFleetError('etcd_compacted', 'the watched revision was compacted', {
      fields: { compactRevision: answer.compactRevision },
    });
  }
  if (answer.canceled) throw new Error(`etcd cancelled the watch: ${answer.cancelReason}`);
  return answer.events.filter(({ kv }) => kv !== undefined);
}
