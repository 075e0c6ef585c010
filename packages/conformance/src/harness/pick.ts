// Choosing machines to work on. Slots that a fault provider marks as failing are never chosen by
// accident. Too few machines is a typed skip: an empty provider must not look certified.

import { type CheckContext, SkipCheck } from './check.ts';
import { accepted } from './expect.ts';
import { listed } from './inventory.ts';
import type { MachineView } from './machine.ts';

const createFaultLabel = 'conformance.fault/create';

/** Room for the fault provider's failing slots in a capped sample. */
const SPARE = 16;

export async function pickSpeculative(context: CheckContext): Promise<string> {
  const [sample] = (await listed(context, { states: ['SPECULATIVE'], maxResults: 1 })).machines;
  if (sample !== undefined && isUsable(sample)) return sample.id;
  const [id] = await pickN(context, 1);
  return id ?? tooFew(1, 0);
}

/** Distinct ones: two samples of one machine are the usual reason for a false finding. */
export async function pickN(context: CheckContext, count: number): Promise<readonly string[]> {
  const queries = [{ states: ['SPECULATIVE'], maxResults: count + SPARE }, {}] as const;
  let ids: readonly string[] = [];
  for (const query of queries) {
    const answer = await context.endpoint.list(query);
    const { machines } = accepted(answer, 'List for speculative machines');
    ids = [...new Set(machines.filter(isUsable).map(({ id }) => id))];
    if (ids.length >= count) return ids.slice(0, count);
  }
  return tooFew(count, ids.length);
}

/** A slot whose Create fails by its label (fault lane). */
export async function pickCreateFault(context: CheckContext): Promise<string> {
  const { machines } = await listed(context, { states: ['SPECULATIVE'] });
  const slot = machines.find(({ labels }) => labels.get(createFaultLabel) === 'error');
  if (slot !== undefined) return slot.id;
  throw new SkipCheck(
    'precondition-unmet',
    `no SPECULATIVE machine carries the label ${createFaultLabel}=error`,
  );
}

function isUsable({ state, labels }: MachineView): boolean {
  return state === 'SPECULATIVE' && !labels.has(createFaultLabel);
}

function tooFew(needed: number, found: number): never {
  throw new SkipCheck(
    'precondition-unmet',
    `needs ${needed} SPECULATIVE machine(s), found ${found}: seed more`,
  );
}
