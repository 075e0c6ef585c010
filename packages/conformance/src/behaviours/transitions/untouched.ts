// A refused call must leave the machine exactly as it was: checked at once and for a window, since
// a provider may refuse the call and do the work all the same.

import type { CheckContext } from '../../harness/context.ts';
import type { MachineView, State, TextMap } from '../../harness/machine.ts';
import { ensureCluster, ensureMetadata } from '../../harness/metadata.ts';
import { expectState, staysIn } from '../../harness/reach.ts';
import { noMetadata } from '../../harness/walk.ts';

const STABILITY_MS = 250;

export interface Untouched {
  readonly machineId: string;
  readonly state: State;
  /** Empty unless bound. */
  readonly cluster?: string;
  readonly metadata?: TextMap;
  readonly windowMs?: number;
}

export async function ensureUntouched(context: CheckContext, expected: Untouched): Promise<void> {
  const { machineId, state, windowMs = STABILITY_MS } = expected;
  ensureBinding(await expectState(context, machineId, state), expected, 'after the call');
  await staysIn(context, machineId, state, windowMs);
  ensureBinding(await expectState(context, machineId, state), expected, `${windowMs} ms later`);
}

function ensureBinding(machine: MachineView, expected: Untouched, where: string): void {
  ensureCluster(machine, expected.cluster ?? '', where);
  ensureMetadata(machine, expected.metadata ?? noMetadata, where);
}
