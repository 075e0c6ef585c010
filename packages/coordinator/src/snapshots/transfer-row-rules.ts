// What every transfer row that live commands can write has in common. A finished transfer may name
// shards that are gone, so it cannot be replayed as a command; its shape can still be judged.

import { machineIdsProblem, MAX_TRANSFER_MACHINES } from '../state/decide/transfers.ts';
import { nameProblem, shardIdProblem } from '../state/decide/inputs.ts';
import type { TransferRow } from '../state/rows.ts';

export function transferRowProblem(row: TransferRow, applyIndex: number): string | undefined {
  if (row.from === row.to) return 'a transfer needs two different shards';
  if (row.toUid < 1 || row.toUid > applyIndex || row.fromUid > applyIndex)
    return 'a uid of the transfer is not of this state';
  return (
    nameProblem('transfer id', row.id) ??
    nameProblem('provider address', row.providerAddress) ??
    shardIdProblem(row.from) ??
    shardIdProblem(row.to) ??
    machinesProblem(row) ??
    quotaProblem(row)
  );
}

function machinesProblem({ tier, phase, machineIds }: TransferRow): string | undefined {
  const hasMoved = tier === 1 && (phase === 'COMMITTED' || phase === 'DONE');
  if (hasMoved) return machineIdsProblem(machineIds, MAX_TRANSFER_MACHINES);
  return machineIds.length === 0 ? undefined : 'a transfer that moved nothing names machines';
}

function quotaProblem({ tier, phase, quota }: TransferRow): string | undefined {
  if (tier === 1) return quota === null ? undefined : 'a transfer of machines moves quota';
  const hasMoved = phase === 'COMMITTED' || phase === 'DONE';
  if (hasMoved !== (quota?.step === 'GROWN')) return 'phase and quota of a transfer disagree';
  return phase === 'ABORTED' && quota?.step === 'SHRUNK' ? 'an aborted move owes quota' : undefined;
}
