// The transfers between the shards, asked for again and again while the demo runs. A coordinator that
// does not answer changes nothing: the last picture stays, as it does for the shards.

import { describeThrown, type Runtime, sleep } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import { type TransferRecord, TransferRecordPhase } from '@bigfleet/wire';
import type { CoordinatorLink } from './coordinator-link.ts';

const EVERY_MS = 300;

export type TransferPhase = 'PREPARING' | 'COMMITTED' | 'DONE' | 'ABORTED';

export interface Transfer {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly phase: TransferPhase;
  readonly machineCount: number;
}

export interface TransferWatch {
  readonly runtime: Runtime;
  readonly link: CoordinatorLink;
  readonly logger: Logger;
  readonly onTransfers: (transfers: readonly Transfer[]) => void;
}

/** Resolves after the signal. */
export async function watchTransfers(watch: TransferWatch, signal: AbortSignal): Promise<void> {
  const { runtime, link, logger, onTransfers } = watch;
  while (!signal.aborted) {
    await link.transfers(signal).then(
      (records) => onTransfers(records.map(transferOf)),
      (error: unknown) => {
        if (!signal.aborted) logger.warn('no transfers heard', { err: describeThrown(error) });
      },
    );
    await sleep(runtime, EVERY_MS, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}

function transferOf(record: TransferRecord): Transfer {
  const { transferId: id, fromShardId: from, toShardId: to, machineIds } = record;
  const phase = phases.get(record.phase) ?? 'PREPARING';
  return { id, from, to, phase, machineCount: machineIds.length };
}

const phases: ReadonlyMap<TransferRecordPhase, TransferPhase> = new Map([
  [TransferRecordPhase.PREPARING, 'PREPARING'],
  [TransferRecordPhase.COMMITTED, 'COMMITTED'],
  [TransferRecordPhase.DONE, 'DONE'],
  [TransferRecordPhase.ABORTED, 'ABORTED'],
]);
