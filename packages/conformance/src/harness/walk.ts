// Bringing machines where a check needs them, by unfenced calls unless it says otherwise. Each
// step is accepted with an operation id and settles, or the check fails right here.

import type { FencingToken } from '@bigfleet/wire';
import type { CheckContext } from './check.ts';
import type { Ack } from './endpoint.ts';
import { acknowledged } from './expect.ts';
import { mapLimited } from './fanout.ts';
import type { MachineView, TextMap } from './machine.ts';
import { pickN, pickSpeculative } from './pick.ts';
import { mustReach, waitFor } from './reach.ts';
import { scaled, SETTLE_MS } from './wait.ts';

const MANY_SETTLE_MS = 30_000;
const MAX_PARALLEL = 16;

export const standardCluster = 'conf-cluster';
export const standardBlob: Uint8Array = new TextEncoder().encode('# conformance\n');
export const noMetadata: TextMap = new Map();

/** A settled step: the ack that started it and the record that it ended in. */
export interface Step {
  readonly ack: Ack;
  readonly machine: MachineView;
}

export interface StepOptions {
  readonly token?: FencingToken | undefined;
  readonly withinMs?: number | undefined;
}

export interface Binding {
  readonly clusterId: string;
  readonly metadata?: TextMap | undefined;
}

export async function createToIdle(
  context: CheckContext,
  machineId: string,
  { token, withinMs }: StepOptions = {},
): Promise<Step> {
  const answer = await context.endpoint.create({ machineId, token });
  const ack = acknowledged(answer, `Create ${machineId}`);
  return { ack, machine: await mustReach(context, machineId, 'IDLE', withinMs) };
}

export async function configureTo(
  context: CheckContext,
  machineId: string,
  { clusterId, metadata }: Binding,
  { token, withinMs }: StepOptions = {},
): Promise<Step> {
  const call = { machineId, clusterId, metadata, blob: standardBlob, token };
  const ack = acknowledged(await context.endpoint.configure(call), `Configure ${machineId}`);
  return { ack, machine: await mustReach(context, machineId, 'CONFIGURED', withinMs) };
}

export async function drainToIdle(
  context: CheckContext,
  machineId: string,
  graceSeconds: bigint,
  { token, withinMs }: StepOptions = {},
): Promise<Step> {
  const answer = await context.endpoint.drain({ machineId, graceSeconds, token });
  const ack = acknowledged(answer, `Drain ${machineId}`);
  return { ack, machine: await mustReach(context, machineId, 'IDLE', withinMs) };
}

export async function deleteToSpeculative(
  context: CheckContext,
  machineId: string,
  { token, withinMs }: StepOptions = {},
): Promise<Step> {
  const answer = await context.endpoint.delete({ machineId, token });
  const ack = acknowledged(answer, `Delete ${machineId}`);
  return { ack, machine: await mustReach(context, machineId, 'SPECULATIVE', withinMs) };
}

export async function walkToIdle(context: CheckContext): Promise<string> {
  const machineId = await pickSpeculative(context);
  await createToIdle(context, machineId);
  return machineId;
}

export async function walkToConfigured(context: CheckContext, binding: Binding): Promise<string> {
  const machineId = await walkToIdle(context);
  await configureTo(context, machineId, binding);
  return machineId;
}

/** In parallel: a real substrate takes a minute for one and little more for all. */
export async function walkNToIdle(
  context: CheckContext,
  count: number,
): Promise<readonly string[]> {
  const ids = await pickN(context, count);
  await mapLimited(ids, MAX_PARALLEL, (machineId) =>
    createToIdle(context, machineId, { withinMs: MANY_SETTLE_MS }),
  );
  return ids;
}

type MachineCheck = (context: CheckContext, machineId: string) => Promise<void>;

/** A check on one machine, which is given back when the check holds. */
function onMachine(
  reach: (context: CheckContext) => Promise<string>,
  check: MachineCheck,
): (context: CheckContext) => Promise<void> {
  return async (context) => {
    const machineId = await reach(context);
    await check(context, machineId);
    await release(context, machineId);
  };
}

export function onSlot(check: MachineCheck): ReturnType<typeof onMachine> {
  return onMachine(pickSpeculative, check);
}

export function onIdle(check: MachineCheck): ReturnType<typeof onMachine> {
  return onMachine(walkToIdle, check);
}

export function onConfigured(
  check: MachineCheck,
  binding: Binding = { clusterId: standardCluster },
): ReturnType<typeof onMachine> {
  return onMachine((context) => walkToConfigured(context, binding), check);
}

/**
 * Gives machines back when a check is done with them: unbound, and to SPECULATIVE where Delete
 * exists, so that a pool of 256 serves the whole lane and a cloud stops billing. Best effort on
 * purpose: what a broken provider makes of it is the finding of the behaviours about it.
 */
export async function release(
  context: CheckContext,
  ...machineIds: readonly string[]
): Promise<void> {
  await mapLimited(machineIds, MAX_PARALLEL, async (machineId) => {
    const { endpoint, capabilities } = context;
    const before = await endpoint.get(machineId);
    if (before.ok && before.value.state === 'CONFIGURED') {
      await endpoint.drain({ machineId, graceSeconds: 0n });
      if (!capabilities.delete) return;
      const withinMs = scaled(context, SETTLE_MS);
      await waitFor(context, machineId, { withinMs, until: ({ state }) => state === 'IDLE' });
    }
    if (capabilities.delete) await endpoint.delete({ machineId });
  });
}
