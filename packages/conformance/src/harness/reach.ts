// Waiting for a state, and watching that a state holds. A Get that fails in between is a skipped
// sample, never a finding: transports hiccup. But a watch that saw nothing at all proved nothing,
// and fails.

import { type CheckContext, CheckFailed } from './check.ts';
import { accepted, ensure } from './expect.ts';
import type { MachineView, State } from './machine.ts';
import { poll, scaled, SETTLE_MS } from './wait.ts';

/** One Get that must succeed, and must be about the machine that was asked for. */
export async function read(context: CheckContext, machineId: string): Promise<MachineView> {
  const machine = accepted(await context.endpoint.get(machineId), `Get ${machineId}`);
  ensure(
    machine.id === machineId,
    () => `Get ${machineId}: answered with the record of ${JSON.stringify(machine.id)}`,
  );
  return machine;
}

/** Now, by one Get. */
export async function expectState(
  context: CheckContext,
  machineId: string,
  state: State,
): Promise<MachineView> {
  const machine = await read(context, machineId);
  ensure(machine.state === state, () => `${machineId}: expected ${state}, is ${told(machine)}`);
  return machine;
}

/** The record once it is in `state`. FAILED ends the wait early: no RPC leads out of it. */
export async function mustReach(
  context: CheckContext,
  machineId: string,
  state: State,
  withinMs: number = SETTLE_MS,
): Promise<MachineView> {
  const { seen, last } = await waitFor(context, machineId, {
    withinMs: scaled(context, withinMs),
    until: (machine) => machine.state === state || machine.state === 'FAILED',
  });
  if (seen?.state === state) return seen;
  const end = seen === undefined ? `after ${scaled(context, withinMs)} ms it` : 'it';
  throw new CheckFailed(`${machineId}: expected to reach ${state}, ${end} is ${told(last)}`);
}

interface WaitOptions {
  /** Already scaled. */
  readonly withinMs: number;
  readonly until: (machine: MachineView) => boolean;
}

interface Waited {
  /** The first record that satisfied `until`. */
  readonly seen: MachineView | undefined;
  readonly last: MachineView | undefined;
}

/** Polls one machine until its record satisfies a condition; says what it saw last if none did. */
export async function waitFor(
  context: CheckContext,
  machineId: string,
  options: WaitOptions,
): Promise<Waited> {
  let last: MachineView | undefined;
  const seen = await poll(context, { forMs: options.withinMs }, async () => {
    const answer = await context.endpoint.get(machineId);
    if (!answer.ok) return undefined;
    last = answer.value;
    return options.until(last) ? last : undefined;
  });
  return { seen, last };
}

/** In `state` at every sample of the window. */
export async function staysIn(
  context: CheckContext,
  machineId: string,
  state: State,
  windowMs: number,
): Promise<void> {
  await watchWindow(context, machineId, windowMs, (machine) =>
    machine.state === state ? undefined : `expected to stay ${state}, is ${told(machine)}`,
  );
}

/** In none of `states` at any sample of the window. */
export async function neverReaches(
  context: CheckContext,
  machineId: string,
  states: readonly State[],
  windowMs: number,
): Promise<void> {
  await watchWindow(context, machineId, windowMs, (machine) =>
    states.includes(machine.state)
      ? `expected not to become ${machine.state}, is ${told(machine)}`
      : undefined,
  );
}

async function watchWindow(
  context: CheckContext,
  machineId: string,
  windowMs: number,
  findingOf: (machine: MachineView) => string | undefined,
): Promise<void> {
  let sampleCount = 0;
  const finding = await poll(context, { forMs: scaled(context, windowMs) }, async () => {
    const answer = await context.endpoint.get(machineId);
    if (!answer.ok) return undefined;
    sampleCount++;
    return findingOf(answer.value);
  });
  ensure(finding === undefined, () => `${machineId}: ${finding}`);
  ensure(sampleCount > 0, () => `${machineId}: no Get succeeded for ${windowMs} ms`);
}

/** A state with what explains it. */
export function told(machine: MachineView | undefined): string {
  if (machine === undefined) return 'unreadable (every Get failed)';
  const reason =
    machine.lastError === '' ? '' : ` (last_error ${JSON.stringify(machine.lastError)})`;
  return `${machine.state}${reason}`;
}
