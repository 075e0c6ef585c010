// Machines by state, capacity type and the penalty bucket of what they serve; demand rows by bucket
// (observability §3.3). The fleet counts with every write; every combination is read when somebody
// collects, so that one that drained reads 0 and never its old value.
// Cost of a scrape: 864 array reads, whatever the fleet holds.

import { bucketLabel, PENALTY_BUCKETS, type PenaltyBucket } from '@bigfleet/base';
import { CapacityType, capacityTypeName, isStateCode, State, stateName } from '@bigfleet/engine';
import type { Gauge, MetricRegistry } from '@bigfleet/telemetry';
import type { MachineCounts } from '../fleet/machine-counts.ts';
import type { DemandLedger } from '../ledgers/demand-ledger.ts';

const STATES = Object.values(State).filter(isStateCode);
const TYPES = Object.values(CapacityType);
const BUCKET_LABELS = PENALTY_BUCKETS.map(bucketLabel);

export interface InventoryMetricsOptions {
  readonly registry: MetricRegistry;
  readonly demand: DemandLedger;
  readonly fleet: () => { readonly counts: MachineCounts };
}

export function observeInventory({ registry, demand, fleet }: InventoryMetricsOptions): void {
  const machines = createMachineGauges(registry);
  const demandRows = createDemandGauges(registry);
  registry.onCollect(() => {
    const { counts } = fleet();
    for (const { state, type, bucket, gauge } of machines)
      gauge.set(counts.of(state, type, bucket));
    for (const [at, bucket] of PENALTY_BUCKETS.entries()) {
      demandRows[at]?.set(demand.rowsIn(bucket));
    }
  });
}

interface Cell {
  readonly state: number;
  readonly type: number;
  readonly bucket: PenaltyBucket;
}

interface MachineGauge extends Cell {
  readonly gauge: Gauge;
}

/** Configured is published from the start in every combination, the others when they occur. */
function createMachineGauges(registry: MetricRegistry): readonly MachineGauge[] {
  const family = registry.gauge({
    name: 'bigfleet_shard_inventory_machines',
    help: 'Machines by state, capacity type and interruption penalty of what they serve.',
    labels: {
      state: STATES.map(stateName),
      capacity_type: TYPES.map(capacityTypeName),
      interruption_penalty_bucket: BUCKET_LABELS,
    },
    initial: ({ state }) => state === 'Configured',
  });
  const cells: readonly Cell[] = STATES.flatMap((state) =>
    TYPES.flatMap((type) => PENALTY_BUCKETS.map((bucket) => ({ state, type, bucket }))),
  );
  // Every combination, the last declared label varying fastest: the order of `cells`.
  return family.all().map((gauge, at) => ({ ...(cells[at] as Cell), gauge }));
}

function createDemandGauges(registry: MetricRegistry): readonly Gauge[] {
  const family = registry.gauge({
    name: 'bigfleet_shard_demand_machines',
    help: 'Rows of the NeedsTable by interruption penalty; the name is historic.',
    labels: { interruption_penalty_bucket: BUCKET_LABELS },
  });
  return BUCKET_LABELS.map((label) => family.labels({ interruption_penalty_bucket: label }));
}
