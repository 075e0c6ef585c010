// Which releases a report closes (coordinator §7.2). A shard has let go of a domain only if it knows
// that it must (it acts on an assignment at least as new as the release) and no longer names it.
// Without the first half, a report already on its way when the domain was unassigned would close the
// release while the shard still uses the machines; an old shard, which never names anything, never
// closes one.

import type { ShardReport } from '@bigfleet/wire';
import { textOf } from '../assignment/domain-gate.ts';
import { revisionIn } from '../state/meta.ts';
import type { FleetView } from '../state/fleet-view.ts';
import type { Domain } from '../state/rows.ts';

export function closedReleases(
  view: FleetView,
  report: ShardReport,
  appliedRevision: bigint,
): readonly Domain[] {
  const releasing = view.domainsOf(report.shardId).filter(({ state }) => state === 'RELEASING');
  if (releasing.length === 0) return [];
  const named = new Set(
    report.releasingDomains.map(({ topologyKey: key, topologyValue: value }) =>
      textOf({ key, value }),
    ),
  );
  return releasing.filter(
    (row) =>
      appliedRevision >= BigInt(revisionIn(view.meta, row.revision)) && !named.has(textOf(row)),
  );
}
