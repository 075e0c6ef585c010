// The fault lane's triggers and its one recurring question: is the machine FAILED, with a reason,
// for good? The hooks work over the wire alone (conformance §4.1), so any endpoint can offer them.

import type { CheckContext } from '../../harness/context.ts';
import { acknowledged, ensure } from '../../harness/expect.ts';
import type { MachineView } from '../../harness/machine.ts';
import { told, waitFor } from '../../harness/reach.ts';
import { scaled } from '../../harness/wait.ts';
import { standardBlob, walkToIdle } from '../../harness/walk.ts';

export type ConfigureFault =
  | 'fault-error'
  | 'fault-timeout'
  | 'fault-slow-ok'
  | 'fault-drain-error'
  | 'fault-readiness-block';

export const STABLE_WINDOW_MS = 300;

/** The fault is in the background work: the call itself is accepted at once. */
export async function configureWithFault(
  context: CheckContext,
  fault: ConfigureFault,
): Promise<string> {
  const machineId = await walkToIdle(context);
  const call = { machineId, clusterId: fault, blob: standardBlob };
  acknowledged(await context.endpoint.configure(call), `Configure ${machineId} with ${fault}`);
  return machineId;
}

/** FAILED with last_error within the transition timeout and some; `marginMs` is scaled. */
export async function mustFail(
  context: CheckContext,
  machineId: string,
  marginMs: number,
): Promise<MachineView> {
  const withinMs = context.faultTimeoutMs + scaled(context, marginMs);
  const { seen, last } = await waitFor(context, machineId, {
    withinMs,
    until: ({ state }) => state === 'FAILED',
  });
  ensure(
    seen !== undefined,
    () => `${machineId}: expected FAILED within ${withinMs} ms, is ${told(last)}`,
  );
  ensure(seen.lastError !== '', () => `${machineId}: FAILED without last_error`);
  return seen;
}

/** Still FAILED, with the very same reason. */
export function ensureSameFailure(machine: MachineView, failed: MachineView, when: string): void {
  ensure(
    machine.state === 'FAILED',
    () => `${machine.id} ${when}: expected to stay FAILED, is ${told(machine)}`,
  );
  ensure(
    machine.lastError === failed.lastError,
    () =>
      `${machine.id} ${when}: last_error changed from ${JSON.stringify(failed.lastError)} ` +
      `to ${JSON.stringify(machine.lastError)}`,
  );
}
