// Quantities of the shapes, in the engine's integers.

import { assert } from '@bigfleet/base';
import { parseResources, type Resources } from '@bigfleet/engine';

export function resources(quantities: Readonly<Record<string, string>>): Resources {
  const parsed = parseResources(new Map(Object.entries(quantities)), 'demand');
  assert(parsed.ok, 'a shape states quantities', { quantities: JSON.stringify(quantities) });
  return parsed.value;
}

export function times(vector: Resources, factor: number): Resources {
  return new Map([...vector].map(([name, value]) => [name, value * factor]));
}

export function plus(a: Resources, b: Resources): Resources {
  const sum = new Map(a);
  for (const [name, value] of b) sum.set(name, (sum.get(name) ?? 0) + value);
  return sum;
}

/** Per dimension, the larger. */
export function largest(vectors: readonly Resources[]): Resources {
  const maxima = new Map<string, number>();
  for (const vector of vectors) {
    for (const [name, value] of vector) maxima.set(name, Math.max(maxima.get(name) ?? 0, value));
  }
  return maxima;
}
