// Calls out of position: refused, never with the code that is reserved for fencing.

import type { CheckContext } from '../harness/context.ts';
import { rejected } from '../harness/expect.ts';
import { pickSpeculative } from '../harness/pick.ts';
import { expectState } from '../harness/reach.ts';
import { release } from '../harness/walk.ts';
import { type BaselineCheck, configuredMachine, DRAIN_GRACE_SECONDS } from './check.ts';

export const positionChecks: readonly BaselineCheck[] = [
  { name: 'DrainOnSpeculative', run: drainOnSpeculative },
  { name: 'DeleteOnConfigured', run: deleteOnConfigured },
];

async function drainOnSpeculative(context: CheckContext): Promise<void> {
  const machineId = await pickSpeculative(context);
  const answer = await context.endpoint.drain({ machineId, graceSeconds: DRAIN_GRACE_SECONDS });
  rejected(answer, `Drain on SPECULATIVE ${machineId}`);
}

async function deleteOnConfigured(context: CheckContext): Promise<void> {
  const machineId = await configuredMachine(context);
  rejected(await context.endpoint.delete({ machineId }), `Delete on CONFIGURED ${machineId}`);
  await expectState(context, machineId, 'CONFIGURED');
  await release(context, machineId);
}
