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
  readonly sagas: (parts: SagaParts) => TransferPort & AckListener;
}

export interface SagaParts {
  readonly soft: SoftState;
  readonly queue: InstructionQueue;
  readonly recovery: RecoveryMachine;
  readonly ownership: OwnershipWatch;
}

export interface ReportDesk extends SagaParts {
  readonly handler: ReportHandler;
  readonly clusters: ClusterBindings;
  /** To be run for as long as the leadership lasts. */
  readonly recoveryDriver: RecoveryDriver;
  /** After a RemoveShard: nothing soft about it may reach a successor of the name. */
  forgetShard(shardId: string): void;
}

export function createReportDesk(options: ReportDeskOptions): ReportDesk {
  const { ledger, runtime, log, observer, raiser, minRecoveryMs } = options;
  const { state: view } = ledger;
  const nowMs = (): number => runtime.clock.monotonicMs();
  const soft = new SoftState(nowMs());
  const queue = new InstructionQueue({ runtime, term: ledger.term });
  const recovery = new RecoveryMachine({ view, soft, term: ledger.term, nowMs, minRecoveryMs });
  const ownership = new OwnershipWatch({ soft, runtime, log, observer });
  const clusters = new ClusterBindings({ view, log, observer });
  const transfers = options.sagas({ soft, queue, recovery, ownership });
  queue.listen(transfers);
  const forgetShard = (shardId: string): void => {
    soft.forget(shardId);
    queue.clear(shardId);
    clusters.forget(shardId);
    observer.onShardRemoved(shardId);
  };
  const handler = new ReportHandler({
    ledger,
    runtime,
    log,
    observer,
    soft,
    queue,
    assignments: new Assignments({ view, soft, recovery }),
    recovery,
    transfers,
    clusters,
    ownership,
    terms: new TermWatch({ ledger, raiser, log, observer }),
    forgetShard,
  });
  const recoveryDriver = new RecoveryDriver({ ledger, machine: recovery, runtime, log, observer });
  return {
    soft,
    queue,
    recovery,
    ownership,
    clusters,
    handler,
    recoveryDriver,
    forgetShard,
  };
}
