// Equal parts of needs as one object: thousands of clusters ask for the same profiles and the same
// units, and each roll-up brings them as copies. Profiles are those that some cluster demands
// already; vectors of resources are remembered until there are MAX_VECTORS, then anew. Profiles and
// vectors are immutable values, so nobody can tell the difference but the heap.

import type { Need, Profile, Resources } from '@bigfleet/engine';
import type { ShareParts } from './rows.ts';

const MAX_VECTORS = 8_192;

export function sharedParts(profileOf: (fingerprint: string) => Profile | undefined): ShareParts {
  const vectors = new Map<string, Resources>();
  const shared = (resources: Resources): Resources => {
    const key = keyOf(resources);
    const known = vectors.get(key);
    if (known !== undefined) return known;
    if (vectors.size >= MAX_VECTORS) vectors.clear();
    vectors.set(key, resources);
    return resources;
  };
  return (need: Need): Need => ({
    ...need,
    profile: profileOf(need.profile.fingerprint) ?? need.profile,
    aggregate: shared(need.aggregate),
    minUnit: shared(need.minUnit),
  });
}

/** In the order of the entries, which a trace shows; names carry their length, because they come from the wire. */
function keyOf(resources: Resources): string {
  let key = '';
  for (const [name, quanta] of resources) key += `${name.length}:${name}${quanta};`;
  return key;
}
