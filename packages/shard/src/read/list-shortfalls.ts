// ListShortfalls: the whole ledger of the last cycle, most important first, not only what is
// reported upwards.

import { compareText } from '@bigfleet/base';
import { ESCALATE_AFTER_CYCLES, type Shortfall } from '@bigfleet/engine';
import type { ListShortfallsRequest, ShortfallViewSchema } from '@bigfleet/wire';
import { wireBucket, wireRequirements, wireResources } from '../engine-host/wire-values.ts';
import type { ReadSources } from './read-sources.ts';
import { limitOf } from './requests.ts';
import type { Init } from './wire-init.ts';

const CLUSTERS_SHOWN = 20;
const ROWS_PER_TURN = 250;

export async function* listShortfalls(
  { reading, runtime }: ReadSources,
  request: ListShortfallsRequest,
): AsyncGenerator<Init<typeof ShortfallViewSchema>, void> {
  const { clusterId } = request;
  const limit = limitOf(request.limit);
  const { cycles: times, shortfalls } = reading;
  const cycle = times.newestCycle;
  const rows = [...shortfalls.values()]
    .filter(({ clusters }) => clusterId === '' || clusters.includes(clusterId))
    .sort(compareShortfalls)
    .slice(0, limit);
  for (const [at, row] of rows.entries()) {
    if (at % ROWS_PER_TURN === ROWS_PER_TURN - 1) await runtime.timers.turn();
    yield shortfallView(row, times.at(cycle - row.ageCycles + 1));
  }
}

function shortfallView(
  row: Shortfall,
  firstUnmetUnixNanos: bigint,
): Init<typeof ShortfallViewSchema> {
  const { profile, deficit, minUnit, ageCycles, reasonCode, clusters } = row;
  return {
    profileFingerprint: profile.fingerprint,
    shortfall: {
      requirements: wireRequirements(profile.requirements),
      deficit: wireResources(deficit),
      priority: profile.priority,
      ageCycles,
      interruptionPenaltyBucket: wireBucket(profile.interruptionBucket),
      topologyConstrained: profile.same !== undefined,
      minUnit: wireResources(minUnit),
      escalate: ageCycles > ESCALATE_AFTER_CYCLES,
      profileFingerprint: profile.fingerprint,
      reasonCode,
    },
    clusterIds: clusters.slice(0, CLUSTERS_SHOWN),
    clusterCount: clusters.length,
    firstUnmetUnixNanos,
  };
}

function compareShortfalls(a: Shortfall, b: Shortfall): number {
  if (a.profile.priority !== b.profile.priority) return b.profile.priority - a.profile.priority;
  if (a.ageCycles !== b.ageCycles) return b.ageCycles - a.ageCycles;
  return compareText(a.profile.fingerprint, b.profile.fingerprint);
}
