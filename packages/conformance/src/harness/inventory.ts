// Reading lists. A list is a set: it is compared by membership, never by position.

import type { CheckContext } from './check.ts';
import type { Inventory, ListQuery } from './endpoint.ts';
import { accepted, ensure } from './expect.ts';
import type { MachineView, State } from './machine.ts';

/** With `since` alone, what changed: a filtered delta hides what left the filter. */
export async function listed(context: CheckContext, query: ListQuery = {}): Promise<Inventory> {
  return accepted(await context.endpoint.list(query), `List(${described(query)})`);
}

/** Everything; an id that appears twice is a finding wherever it happens. */
export async function fullList(context: CheckContext): Promise<Inventory> {
  const inventory = await listed(context);
  distinctById(inventory.machines, 'List()');
  return inventory;
}

export function distinctById(
  machines: readonly MachineView[],
  where: string,
): ReadonlyMap<string, MachineView> {
  const byId = new Map<string, MachineView>();
  for (const machine of machines) {
    ensure(!byId.has(machine.id), () => `${where}: ${machine.id} appears more than once`);
    byId.set(machine.id, machine);
  }
  return byId;
}

/** The record of this machine in a List of its state. */
export async function listedRecord(
  context: CheckContext,
  machineId: string,
  state: State,
  where: string = `List(${state})`,
): Promise<MachineView> {
  const { machines } = await listed(context, { states: [state] });
  const record = machines.find(({ id }) => id === machineId);
  ensure(record !== undefined, () => `${where}: ${machineId} is missing`);
  return record;
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

export function idsOf(machines: readonly MachineView[]): ReadonlySet<string> {
  return new Set(machines.map(({ id }) => id));
}

/** Members of `wanted` that `present` lacks. */
export function missingFrom(
  present: ReadonlySet<string>,
  wanted: Iterable<string>,
): readonly string[] {
  return [...wanted].filter((id) => !present.has(id));
}

const MAX_NAMED = 5;

/** A few ids and how many more, so that a finding about a large fleet stays readable. */
export function someOf(ids: readonly string[]): string {
  const named = ids.slice(0, MAX_NAMED).join(', ');
  return ids.length > MAX_NAMED ? `${named} and ${ids.length - MAX_NAMED} more` : named;
}

function described({ states, maxResults, since }: ListQuery): string {
  const parts = [
    states === undefined || states.length === 0 ? '' : `states ${states.join('+')}`,
    maxResults === undefined ? '' : `max_results ${maxResults}`,
    since === undefined ? '' : `since_revision of ${since.length} bytes`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}
