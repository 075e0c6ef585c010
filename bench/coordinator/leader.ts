// One leadership over a SQLite store on a real disk, with the production desk, sagas and rebalancer.
// The rebalancer's own loop is off: a bench runs its passes when it wants them.

import type { Runtime } from '@bigfleet/base';
import {
  type ApplyQueue,
  type CoordinatorObserver,
  createRebalancing,
  createReportDesk,
  DEFAULT_REBALANCE_SETTINGS,
  openLedger,
  type Rebalancing,
  type ReportDesk,
  SqliteStore,
} from '@bigfleet/coordinator';
import { captureSink, createLogger, type Logger } from '@bigfleet/telemetry';

const nothing = (): void => {};
const OBSERVER: CoordinatorObserver = {
  onReport: nothing,
  onPendingInstructions: nothing,
  onUnregisteredProvider: nothing,
  onShardRemoved: nothing,
  onOwnershipConflict: nothing,
  onClusterBindingConflict: nothing,
  onTermJumpRefused: nothing,
  onRebalancePass: nothing,
  onRebalanceMove: nothing,
};

export interface Leader {
  readonly store: SqliteStore;
  readonly ledger: ApplyQueue;
  readonly desk: ReportDesk;
  readonly rebalancing: Rebalancing;
  readonly log: Logger;
  stop(): Promise<void>;
}

export async function startLeader(runtime: Runtime, dataDir: string): Promise<Leader> {
  const store = new SqliteStore({
    runtime,
    dataDir,
    nodeId: 'bench',
    grpcAddress: 'bench:7790',
    bootstrap: true,
  });
  await store.open();
  const leadership = await store.campaign(new AbortController().signal);
  const log = createLogger({ clock: runtime.clock, sink: captureSink(), level: 'error' });
  const ledger = await openLedger({ runtime, store, leadership, log });
  let rebalancing: Rebalancing | undefined;
  const desk = createReportDesk({
    ledger,
    runtime,
    log,
    observer: OBSERVER,
    raiseAbove: nothing,
    sagas: (parts) => {
      const settings = { ...DEFAULT_REBALANCE_SETTINGS, intervalMs: 0 };
      const shared = { ...parts, runtime, ledger, observer: OBSERVER, log };
      rebalancing = createRebalancing({ ...shared, settings });
      return rebalancing.sagas;
    },
  });
  if (rebalancing === undefined) throw new Error('the desk made no sagas');
  const ended = new AbortController();
  const loops = rebalancing.run(ended.signal);
  const stop = async (): Promise<void> => {
    ended.abort();
    await Promise.all([ledger.close(), loops]);
    await store.close();
  };
  return { store, ledger, desk, rebalancing, log, stop };
}
