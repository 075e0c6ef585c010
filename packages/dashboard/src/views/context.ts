// What a view stands on beside the world at its moment, and what every answer begins with.

import type { Frame } from '../api/index.ts';
import type { Annotations, Outside } from '../facts.ts';
import type { FleetMirror } from '../mirror/fleet-mirror.ts';
import type { World } from '../mirror/world.ts';

export interface ViewContext {
  readonly mirror: FleetMirror;
  readonly outside: Outside;
  readonly isSimulated: boolean;
  readonly annotations: Annotations;
}

export function frameOf(world: World, { isSimulated }: ViewContext): Frame {
  const { atMs, isPast, oldestMs, sources } = world;
  return { atMs, isPast, isSimulated, oldestMs, sources: [...sources] };
}

/** Decisions and observations have times of their own: of now all count, also those of this very moment. */
export function endOf({ isPast, atMs }: World): number {
  return isPast ? atMs : Number.MAX_SAFE_INTEGER;
}
