// What a start begins with: the store's image, in the order and numbering that the indexes need. A
// store of an older layout may hold records with equal or missing revisions; those are numbered
// anew, above everything that was ever handed out, so that an old cursor sees each of them as
// changed and hides none.

import type { MachineRecord } from '../model/machine.ts';
import type { Store, StoreImage } from '../store/store.ts';

/** On a first start the store learns its incarnation before anything else. */
export async function loadImage(store: Store, newIncarnation: () => string): Promise<StoreImage> {
  const image = await store.load();
  if (image !== undefined) return await renumbered(store, image);
  const incarnation = newIncarnation();
  await store.initialise(incarnation);
  return { incarnation, revision: 0, machines: [], fences: [], operations: [] };
}

async function renumbered(store: Store, image: StoreImage): Promise<StoreImage> {
  const machines = image.machines.toSorted((a, b) => a.modifiedRevision - b.modifiedRevision);
  if (isProperlyNumbered(machines, image.revision)) return { ...image, machines };
  const highest = machines.at(-1)?.modifiedRevision ?? 0;
  let revision = Math.max(highest, image.revision);
  const fresh = machines.map((record) => ({ ...record, modifiedRevision: ++revision }));
  const changes = fresh.map((record) => ({ kind: 'machine', record }) as const);
  await store.commit([...changes, { kind: 'revision', revision }]);
  return { ...image, machines: fresh, revision };
}

function isProperlyNumbered(machines: readonly MachineRecord[], revision: number): boolean {
  let previous = 0;
  for (const { modifiedRevision } of machines) {
    if (modifiedRevision <= previous) return false;
    previous = modifiedRevision;
  }
  return previous <= revision;
}
