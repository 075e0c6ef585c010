// Everything that one leadership keeps and does about its shards, put together: made when it begins,
// dropped when it ends. Wiring only. The sagas are made by the caller from the soft state and the
// queue, because they listen to both.

import type { Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import { Assignments } from '../assignment/assignments.ts';
import { type AckListener, InstructionQueue } from '../instructions/instruction-queue.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { CoordinatorObserver } from '../metrics/observer.ts';
import { RecoveryDriver } from '../recovery/recovery-driver.ts';
import { RecoveryMachine } from '../recovery/recovery-machine.ts';
import { OwnershipWatch } from '../registry/ownership-watch.ts';
import { ClusterBindings } from './cluster-bindings.ts';
import { ReportHandler, type TransferPort } from './report-handler.ts';
import { SoftState } from '../reports/soft-state.ts';
import { type TermRaiser, TermWatch } from './term-watch.ts';

export interface ReportDeskOptions {
  readonly ledger: Ledger;
  readonly runtime: Runtime;
  readonly log: Logger;
  readonly observer: CoordinatorObserver;
  readonly raiser: TermRaiser;
  readonly minRecoveryMs?: number | undefined;
  readonly sagas: (parts: DeskParts) => TransferPort & AckListener;
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
  queue.listen(transfers);
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
