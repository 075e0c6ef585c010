// ListSessions: one row per connected operator, taken as the reader takes them.

import type { SessionViewSchema } from '@bigfleet/wire';
import type { ReadSources } from './read-sources.ts';
import type { Init } from './wire-init.ts';

/** Look-ups before I/O has its turn: of a row without phantom machines so many, and one for each of those. */
const LOOK_UPS_PER_TURN = 2_000;
const LOOK_UPS_PER_ROW = 4;

export async function* listSessions({
  sessions,
  fleet,
  runtime,
}: ReadSources): AsyncGenerator<Init<typeof SessionViewSchema>, void> {
  let lookUpCount = 0;
  // A copy: sessions come and go between two turns.
  const rows = [...sessions()];
  for (const { session, demand, phantomMachineIds } of rows) {
    if (lookUpCount >= LOOK_UPS_PER_TURN) {
      lookUpCount = 0;
      await runtime.timers.turn();
    }
    const phantoms = phantomMachineIds();
    lookUpCount += LOOK_UPS_PER_ROW + phantoms.length;
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
      phantomMachineIds: [...phantoms],
    };
  }
}
