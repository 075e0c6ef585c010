// Which of the domains that we give up hold no machine of ours any more (coordinator §7.2): the ledger
// closes a release when we stop naming the domain, so a machine overlooked here means two owners.
// Machines that we adopted stay ours wherever they stand, and hold no domain.

import { attributeOf, STATE_COUNT } from '@bigfleet/engine';
import type { Fleet } from '../fleet/fleet.ts';
import type { ReleasingDomain } from './assignment.ts';
import type { OwnershipStore } from './ownership-store.ts';

export function emptyReleasingDomains(
  { assignment, rules }: Pick<OwnershipStore, 'assignment' | 'rules'>,
  { inventory }: Fleet,
): readonly ReleasingDomain[] {
  const open = assignment.releasing.filter(({ isEmpty }) => !isEmpty);
  if (open.length === 0) return [];
  const adopted = new Map<number, number>();
  for (const { machineId } of assignment.adopted) {
    const slot = inventory.slotOf(machineId);
    if (slot < 0) continue;
    const klass = inventory.columns.klass[slot]!;
    adopted.set(klass, (adopted.get(klass) ?? 0) + 1);
  }
  const held = new Set<ReleasingDomain>();
  const { classes } = inventory;
  for (let klass = 0; klass < classes.length; klass++) {
    const shape = classes.shape(klass);
    if (shape === undefined || rules.ofShape(shape, shape.provider) !== 'releasing') continue;
    let count = -(adopted.get(klass) ?? 0);
    for (let state = 0; state < STATE_COUNT; state++) {
      count += classes.counts[klass * STATE_COUNT + state] ?? 0;
    }
    if (count <= 0) continue;
    for (const domain of open) {
      if (attributeOf(shape, domain.key) === domain.value) held.add(domain);
    }
  }
  return open.filter((domain) => !held.has(domain));
}
