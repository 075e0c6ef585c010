// The first start: the store is empty, so the substrate's description becomes the inventory. Strict,
// unlike a reconcile: an invalid or duplicate machine stops the start, because an author or
// operator is looking at it right now. In batches: one crash in between leaves a store that the
// next start completes by its reconcile.

import { BigFleetError } from '@bigfleet/base';
import type { Ledger } from '../fleet/ledger.ts';
import type { StoreImage } from '../store/store.ts';
import { describe, type DescribeDependencies } from './describe.ts';
import type { Reconciler } from './reconcile.ts';

const RECORDS_PER_COMMIT = 10_000;

export function isEmptyStore(image: StoreImage): boolean {
  const { machines, fences, operations, revision } = image;
  return machines.length === 0 && fences.length === 0 && operations.length === 0 && revision === 0;
}

export async function seed(
  kit: DescribeDependencies & { readonly ledger: Ledger },
  reconciler: Reconciler,
): Promise<void> {
  const { instances, invalid } = await describe(kit);
  const [first] = invalid;
  if (first !== undefined) {
    const more = invalid.length === 1 ? '' : ` (and ${invalid.length - 1} more)`;
    const message = `machine ${JSON.stringify(first.id)}: ${first.problem}${more}`;
    throw new BigFleetError('instance_invalid', message);
  }
  const all = [...instances.values()];
  for (let at = 0; at < all.length; at += RECORDS_PER_COMMIT) {
    const batch = all.slice(at, at + RECORDS_PER_COMMIT);
    await kit.ledger.writeAll(batch.map((instance) => ({ record: reconciler.seeded(instance) })));
  }
}
