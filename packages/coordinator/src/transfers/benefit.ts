// Whether a set of machines is worth moving: it must cover a part of some dimension of the deficit.
// Below that a move and its way back cost more than either gains, and both would look reasonable.

import { toQuanta } from '@bigfleet/base';

type Resources = readonly (readonly [string, string])[];

export function isWorthMoving(covered: Resources, deficit: Resources, minShare: number): boolean {
  const provided = new Map(covered);
  return deficit.some(([name, text]) => {
    const missing = toQuanta(text, name, 'demand');
    const given = toQuanta(provided.get(name) ?? '0', name, 'allocatable');
    if (!missing.ok || !given.ok || missing.value === 0) return false;
    return given.value >= minShare * missing.value;
  });
}
