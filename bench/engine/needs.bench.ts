// The demand table: one cluster's 1,000 rows replaced, then every row of the shard in order. The
// cycle itself never asks for that list; reports and explain do.

import { type BenchEntry, defineBench, keep } from '../harness/index.ts';
import { nudge } from './churn.ts';
import { addDemand, CLUSTERS, NEEDS_PER_CLUSTER } from './cycle-fleet.ts';
import { Fleet } from './fleet.ts';

const ROWS = CLUSTERS * NEEDS_PER_CLUSTER;

const entries: readonly BenchEntry[] = [
  defineBench<Fleet>({
    name: 'engine/needs/snapshot-50k/full',
    shape: { needs: ROWS, ordered: ROWS, clusters: CLUSTERS },
    warmup: 10,
    iterations: 200,
    setup() {
      const fleet = new Fleet({});
      addDemand(fleet, 1);
      fleet.fullPass();
      return fleet;
    },
    observe: ({ engine }) => ({
      needs: engine.needs.rowCount,
      ordered: engine.normalisedRows().length,
      clusters: engine.needs.clusterCount,
    }),
    iteration({ engine, clusters }, index) {
      const cluster = clusters[index % clusters.length] as string;
      const rows = engine.needs.rowsOf(engine.inventory.clusterIndex(cluster));
      engine.applyRollup(
        cluster,
        rows.map(({ need }, at) => (at % 10 === 0 ? nudge(need) : need)),
      );
      keep(engine.normalisedRows());
    },
  }),
];

export default entries;
