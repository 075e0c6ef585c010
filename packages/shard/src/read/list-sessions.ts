// ListSessions: one row per connected operator, taken as the reader takes them.

import type { SessionViewSchema } from '@bigfleet/wire';
import type { ReadSources } from './read-sources.ts';
import type { Init } from './wire-init.ts';

const ROWS_PER_TURN = 500;

export async function* listSessions({
  sessions,
  fleet,
  runtime,
}: ReadSources): AsyncGenerator<Init<typeof SessionViewSchema>, void> {
  // A copy: sessions come and go between two turns.
  for (const [at, { session, demand }] of [...sessions()].entries()) {
    if (at % ROWS_PER_TURN === ROWS_PER_TURN - 1) await runtime.timers.turn();
    yield {
      clusterId: session.cluster,
      connected: true,
      sinceUnixNanos: session.sinceUnixNanos,
      lastRollupUnixNanos: demand.lastRollupUnixNanos,
      needRows: demand.rowCount,
      machines: fleet.configuredCount(session.cluster),
      extensions: [...session.extensions],
      outboxFrames: session.outboxFrameCount,
      quarantinedRollups: demand.heldCount,
      firstRollupReceived: demand.firstRollupReceived,
      presentedIdentity: session.presentedIdentity,
    };
  }
}
