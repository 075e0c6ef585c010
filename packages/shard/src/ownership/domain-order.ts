// Which domain decides when a machine matches several (coordinator §9.2 rule 3): the most specific
// key, in the order rack, zone-slice, zone, region, then every other key alphabetically. Two shards
// that ordered keys differently would both take a machine, or neither would. A key is known by what
// follows its last slash: prefixes differ from one installation to the next.

import { compareText } from '@bigfleet/base';

const SPECIFIC_FIRST: readonly string[] = ['rack', 'zone-slice', 'zone', 'region'];

/** Negative when `a` is asked before `b`. */
export function compareDomainKeys(a: string, b: string): number {
  return rankOf(a) - rankOf(b) || compareText(a, b);
}

function rankOf(key: string): number {
  const rank = SPECIFIC_FIRST.indexOf(key.slice(key.lastIndexOf('/') + 1));
  return rank < 0 ? SPECIFIC_FIRST.length : rank;
}
