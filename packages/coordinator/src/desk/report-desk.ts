// Everything that one leadership keeps and does about its shards, put together: made when it begins,
// dropped when it ends. Wiring only. The sagas are made by the caller from the soft state and the
// queue, because they read both.

import { Assignments } from '../assignment/assignments.ts';
import { InstructionQueue } from '../instructions/instruction-queue.ts';
import type { LeaderContext } from '../metrics/observer.ts';
import { RecoveryDriver } from '../recovery/recovery-driver.ts';
import { RecoveryMachine } from '../recovery/recovery-machine.ts';
import { OwnershipWatch } from '../registry/ownership-watch.ts';
import { ClusterBindings } from './cluster-bindings.ts';
import { ReportHandler, type TransferPort } from './report-handler.ts';
import { SoftState } from '../reports/soft-state.ts';
import { TermWatch } from './term-watch.ts';

export interface ReportDeskOptions extends LeaderContext {
  /** The campaign loop: resigns this leadership and wins the next with a term above the observed one. */
  readonly raiseAbove: (observedTerm: bigint) => void;
  readonly minRecoveryMs?: number | undefined;
  readonly sagas: (parts: DeskParts) => TransferPort;
}

/** What report handling and the sagas share. */
export interface DeskParts {
  readonly soft: SoftState;
  readonly queue: InstructionQueue;
  readonly recovery: RecoveryMachine;
}

export interface ReportDesk extends DeskParts {
  readonly handler: ReportHandler;
  readonly clusters: ClusterBindings;
  /** To be run for as long as the leadership lasts. */
  readonly recoveryDriver: RecoveryDriver;
  /** After a RemoveShard: nothing soft about it may reach a successor of the name. */
  forgetShard(shardId: string): void;
}

export function createReportDesk(options: ReportDeskOptions): ReportDesk {
  const { ledger, runtime, observer, minRecoveryMs } = options;
  const { state: view, term } = ledger;
  const nowMs = (): number => runtime.clock.monotonicMs();
  const soft = new SoftState(nowMs());
  const queue = new InstructionQueue(runtime, term);
  const recovery = new RecoveryMachine({ view, soft, term, nowMs, minRecoveryMs });
  const parts = { soft, queue, recovery };
  const clusters = new ClusterBindings(options);
  const transfers = options.sagas(parts);
  const forgetShard = (shardId: string): void => {
    soft.forget(shardId);
    queue.clear(shardId);
    clusters.forget(shardId);
    observer.onShardRemoved(shardId);
  };
  const handler = new ReportHandler({
    ...options,
    ...parts,
    assignments: new Assignments({ view, soft, recovery }),
    transfers,
    clusters,
    ownership: new OwnershipWatch({ ...options, soft }),
    terms: new TermWatch(options),
    forgetShard,
  });
  const recoveryDriver = new RecoveryDriver({ ...options, machine: recovery });
  return { ...parts, clusters, handler, recoveryDriver, forgetShard };
}
