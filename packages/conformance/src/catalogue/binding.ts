// The one way from a test to its behaviour. Coverage is derived from these bindings, so a test
// with an id that the catalogue does not know must stop the run instead of covering nothing.

import { assert } from '@bigfleet/base';
import type { Behaviour } from './behaviour.ts';
import { behaviours } from './catalogue.ts';

const byId: ReadonlyMap<string, Behaviour> = new Map(
  behaviours.map((behaviour) => [behaviour.id, behaviour]),
);

export function findBehaviour(id: string): Behaviour | undefined {
  return byId.get(id);
}

/** The entry that a test of ours declares; an unknown id is a bug of the suite. */
export function behaviourOf(id: string): Behaviour {
  const behaviour = byId.get(id);
  assert(behaviour !== undefined, 'no behaviour of this id in the catalogue', { id });
  return behaviour;
}

/** First line of a test's output; readers of logs and reports find a behaviour's runs by it. */
export function markerOf(id: string): string {
  return `BEHAVIOR ${behaviourOf(id).id}`;
}
