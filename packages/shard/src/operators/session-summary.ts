// One line per live session, for ListSessions. Built lazily, so that a reader of 5,000 sessions
// takes them as it sends them.

import type { Extension } from '../session/extensions.ts';
import type { DemandView, RollupIntake } from '../rollup/intake.ts';
import type { SessionTable } from '../session/session-table.ts';

export interface SessionSummary {
  readonly cluster: string;
  readonly sinceUnixNanos: bigint;
  readonly extensions: readonly Extension[];
  readonly presentedIdentity: string;
  readonly outboxFrameCount: number;
  readonly demand: DemandView;
}

export function* summarise(
  sessions: SessionTable,
  rollups: RollupIntake,
): IterableIterator<SessionSummary> {
  for (const session of sessions.all()) {
    const { cluster, sinceUnixNanos, extensions, presentedIdentity, outboxFrameCount } = session;
    const demand = rollups.view(cluster);
    yield { cluster, sinceUnixNanos, extensions, presentedIdentity, outboxFrameCount, demand };
  }
}
