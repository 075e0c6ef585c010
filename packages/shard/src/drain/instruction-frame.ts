// A ReclaimInstruction for one machine. `nodes` carries the node's name, or the machine id while
// the name is unknown; `machine_ids` always carries the id (decision 9). Grace on the wire is at
// least one second: operators read zero as their own default of 30 s.

import type { ShardFrame } from '../session/frame.ts';

export interface Instruction {
  readonly id: string;
  readonly machineId: string;
  readonly node: string;
  readonly graceMs: number;
  /** 0 on a voluntary reclaim. */
  readonly preemptorPriority: number;
  readonly reasonCode: string;
}

export function instructionFrame(instruction: Instruction): ShardFrame {
  const graceSeconds = Math.max(1, Math.ceil(instruction.graceMs / 1_000));
  return {
    payload: {
      case: 'reclaimInstruction',
      value: {
        instructionId: instruction.id,
        nodes: [instruction.node],
        gracePeriodSeconds: BigInt(graceSeconds),
        preemptorPriority: instruction.preemptorPriority,
        machineIds: [instruction.machineId],
        reasonCode: instruction.reasonCode,
      },
    },
  };
}
