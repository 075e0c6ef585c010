// Everything that lives exactly as long as one leadership: the ledger, what shards said, what they
// are to hear, the sagas and the rebalancer. Made when the leadership is won, dropped when it ends;
// nothing soft survives into the next one, where "empty" must mean "rebuilding".

import type { Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import { type ApplyObserver, openLedger } from '../ledger/apply-queue.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { CoordinatorMetrics } from '../metrics/coordinator-metrics.ts';
import type { RebalanceSettings } from '../moves/settings.ts';
import { createRebalancing, type Rebalancing } from '../rebalance/rebalancer.ts';
import { createReportDesk, type ReportDesk } from '../desk/report-desk.ts';
import type { SoftState } from '../reports/soft-state.ts';
import type { Leadership, Store } from '../store/store.ts';

export interface LeaderTerm {
  readonly leadership: Leadership;
  readonly ledger: Ledger;
  readonly soft: SoftState;
  readonly desk: ReportDesk;
  /** Lets the command in flight end; refuses the rest. */
  stop(): Promise<void>;
}

export interface LeaderTermOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly store: Store;
  readonly metrics: CoordinatorMetrics;
  readonly rebalance: RebalanceSettings;
  readonly raiseAbove: (observedTerm: bigint) => void;
  /** Further loops of a leadership: membership, exports. */
  readonly beside: readonly ((signal: AbortSignal) => Promise<void>)[];
  /** A loop of this leadership failed with a bug: the process must not go on half alive. */
  readonly onBug: (error: unknown) => void;
}

export async function startLeaderTerm(
  options: LeaderTermOptions,
  leadership: Leadership,
): Promise<LeaderTerm> {
  const { runtime, store, metrics, raiseAbove, rebalance: settings, onBug } = options;
  const log = options.logger.child({ term: String(leadership.term) });
  const onApplied: ApplyObserver = (outcome, ms) => metrics.onApply(outcome, ms / 1_000);
  const ledger = await openLedger({ runtime, store, leadership, log, onApplied });
  const context = { ledger, runtime, log, observer: metrics };
  let rebalancing: Rebalancing | undefined;
  const desk = createReportDesk({
    ...context,
    raiseAbove,
    sagas: (parts) => {
      rebalancing = createRebalancing({ ...context, ...parts, settings });
      return rebalancing.sagas;
    },
  });
  const ended = new AbortController();
  const loops = Promise.all([
    rebalancing?.run(ended.signal),
    desk.recoveryDriver.run(ended.signal),
    ...options.beside.map((run) => run(ended.signal)),
  ]).catch(onBug);
  const stop = async (): Promise<void> => {
    ended.abort();
    await Promise.all([ledger.close(), loops]);
  };
  return { leadership, ledger, soft: desk.soft, desk, stop };
}
