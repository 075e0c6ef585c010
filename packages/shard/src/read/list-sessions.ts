// ListSessions: one row per connected operator, taken as the reader takes them.

import type { Timers } from '@bigfleet/base';
import type { SessionViewSchema } from '@bigfleet/wire';
import type { SessionSummary } from '../operators/operators.ts';
import type { Init } from './wire-init.ts';

const ROWS_PER_TURN = 500;

export interface ListSessionsOptions {
  readonly sessions: () => Iterable<SessionSummary>;
  /** Machines bound to the cluster. */
  readonly machineCount: (cluster: string) => number;
  readonly timers: Timers;
}

export async function* listSessions({
  sessions,
  machineCount,
  timers,
}: ListSessionsOptions): AsyncGenerator<Init<typeof SessionViewSchema>, void> {
  // A copy: sessions come and go between two turns.
  for (const [at, { session, demand }] of [...sessions()].entries()) {
    if (at % ROWS_PER_TURN === ROWS_PER_TURN - 1) await timers.turn();
    yield {
      clusterId: session.cluster,
      connected: true,
      sinceUnixNanos: session.sinceUnixNanos,
      lastRollupUnixNanos: demand.lastRollupUnixNanos,
      needRows: demand.rowCount,
      machines: machineCount(session.cluster),
      extensions: [...session.extensions],
      outboxFrames: session.outboxFrameCount,
      quarantinedRollups: demand.heldCount,
      firstRollupReceived: demand.firstRollupReceived,
      presentedIdentity: session.presentedIdentity,
    };
  }
}
