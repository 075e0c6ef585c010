// Sessions of the operators with their shards.

import type { SessionView } from '@bigfleet/wire';
import { ageText, utcTime } from '../output/text.ts';
import { collect, defineKind, fromShards, isOfCluster, type Kind } from './kind.ts';

function sessionRow(view: SessionView, shard: string, nowUnixNanos: bigint) {
  return {
    cluster: view.clusterId,
    shard,
    connected: view.connected,
    since: utcTime(view.sinceUnixNanos) ?? null,
    age: ageText(view.sinceUnixNanos, nowUnixNanos),
    lastRollup: utcTime(view.lastRollupUnixNanos) ?? null,
    lastRollupAge: ageText(view.lastRollupUnixNanos, nowUnixNanos),
    needs: view.needRows,
    machines: view.machines,
    quarantinedRollups: view.quarantinedRollups,
    outboxFrames: view.outboxFrames,
    firstRollupReceived: view.firstRollupReceived,
    extensions: view.extensions,
    identity: view.presentedIdentity,
    /** Empty, too, from a shard or an operator that does not know them. */
    phantomMachines: view.phantomMachineIds,
  };
}

/** In a cell; -o json and describe have all of them. */
const MAX_NAMED_PHANTOMS = 5;

type SessionRow = ReturnType<typeof sessionRow>;

export const sessions: Kind = defineKind<SessionRow>({
  plural: 'sessions',
  columns: [
    { title: 'CLUSTER', of: ({ cluster }) => cluster },
    { title: 'CONNECTED', of: ({ connected, age }) => (connected ? age : 'no') },
    { title: 'LAST_ROLLUP', of: ({ lastRollupAge }) => lastRollupAge },
    { title: 'NEEDS', of: ({ needs }) => String(needs) },
    { title: 'MACHINES', of: ({ machines }) => String(machines) },
    {
      title: 'QUARANTINED',
      of: ({ quarantinedRollups }) => String(quarantinedRollups),
      tone: ({ quarantinedRollups }) => (quarantinedRollups > 0 ? 'bad' : undefined),
    },
    {
      title: 'PHANTOM',
      of: ({ phantomMachines: { length } }) => (length === 0 ? '' : String(length)),
      tone: ({ phantomMachines }) => (phantomMachines.length > 0 ? 'bad' : undefined),
    },
    { title: 'SHARD', of: ({ shard }) => shard },
    { title: 'PHANTOM_MACHINES', of: phantomText, isWide: true },
    { title: 'SINCE', of: ({ since }) => since ?? '', isWide: true },
    { title: 'OUTBOX', of: ({ outboxFrames }) => String(outboxFrames), isWide: true },
    { title: 'EXTENSIONS', of: ({ extensions }) => extensions.join(','), isWide: true },
    { title: 'IDENTITY', of: ({ identity }) => identity, isWide: true },
  ],
  filters: ['cluster'],
  rows: fromShards({
    feature: 'list sessions',
    ask: ({ query: api }, call) => collect(api.listSessions({}, call)),
    rows: (views, shard, { query, nowUnixNanos }) =>
      views
        .filter(({ clusterId }) => isOfCluster(query, clusterId))
        .map((view) => sessionRow(view, shard, nowUnixNanos)),
  }),
  isNamed: ({ cluster }, name) => cluster === name,
});

function phantomText({ phantomMachines }: SessionRow): string {
  const named = phantomMachines.slice(0, MAX_NAMED_PHANTOMS).join(',');
  const unnamedCount = phantomMachines.length - MAX_NAMED_PHANTOMS;
  return unnamedCount > 0 ? `${named} and ${unnamedCount} more` : named;
}
