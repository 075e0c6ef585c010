// Roll-ups on their way to the engine, and what the main thread remembers of them when they are in
// its table: the demand ledger and the first-seen stamps. Also the way back: forgetting a cluster.

import type { Clock } from '@bigfleet/base';
import type { EngineHost } from '../engine-host/engine-host.ts';
import type { DemandLedger } from '../ledgers/demand-ledger.ts';
import type { FirstSeen } from '../ledgers/first-seen.ts';
import type { RollupSink } from '../rollup/rollup-sink.ts';

export interface RollupPortOptions {
  readonly host: EngineHost;
  readonly clock: Clock;
  readonly demand: DemandLedger;
  readonly firstSeen: FirstSeen;
  /** Rail 2, as of now. */
  readonly isGuarded: () => boolean;
}

export interface RollupPort extends RollupSink {
  /** Resolves with the rows that went. */
  forget(cluster: string): Promise<number>;
}

export function createRollupPort(options: RollupPortOptions): RollupPort {
  const { host, clock, demand, firstSeen, isGuarded } = options;
  return {
    submit: async (cluster, bytes) => {
      const verdict = await host.applyRollup({ cluster, bytes, isGuarded: isGuarded() });
      if (verdict.kind === 'applied') {
        demand.applied(cluster, verdict.demand);
        firstSeen.demanded(cluster, demand.profilesOf(cluster), clock.monotonicMs());
      }
      return verdict;
    },
    unchanged: (cluster) => host.markReported(cluster),
    forget: async (cluster) => {
      await host.forgetCluster(cluster);
      const rowCount = demand.rowCountOf(cluster);
      demand.forget(cluster);
      firstSeen.forget(cluster);
      return rowCount;
    },
  };
}
