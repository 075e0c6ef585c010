// What a reader is told about interruption: the higher of forecast and observation.

import type { MachineRecord } from './machine.ts';

export function publishedProbability(record: MachineRecord): number {
  return Math.max(record.interruptionProbability, record.observedProbability ?? 0);
}
