// One Deployment, Job or gang, drawn from its archetype by the catalogue's laws, in the demo's own
// measure: sizes are capped so that some hundred machines carry all, and lives are short so that a
// person sees them end.

import type { Random } from '@bigfleet/base';
import {
  type Archetype,
  drawLifetimeSeconds,
  drawPriority,
  drawReplicas,
  drawSize,
  drawSpread,
  type QuantityMap,
  type SpreadConstraint,
  uniformInt,
} from '@bigfleet/sim';
import { kindOf, type WorkloadKind } from './plans.ts';

export interface WorkloadObject {
  readonly name: string;
  readonly archetype: Archetype;
  readonly kind: WorkloadKind;
  readonly resources: QuantityMap;
  readonly priority: number;
  readonly spread: SpreadConstraint | undefined;
  /** Infinity for services. */
  readonly endsAtMs: number;
  replicas: number;
}

/** Pods of one object that is no gang. */
export const MAX_REPLICAS = 8;
/** A catalogue minute passes in so many seconds. */
const SECONDS_PER_MINUTE = 1;
/** Gangs of the catalogue run for ever; here they end, and others come. */
const GANG_LIFE_SECONDS: readonly [number, number] = [25, 60];

export interface DrawOptions {
  readonly random: Random;
  readonly archetype: Archetype;
  readonly name: string;
  readonly nowMs: number;
}

export function drawObject({ random, archetype, name, nowMs }: DrawOptions): WorkloadObject {
  const kind = kindOf(archetype);
  const drawn = drawReplicas(random, archetype);
  return {
    name,
    archetype,
    kind,
    resources: drawSize(random, archetype),
    priority: drawPriority(random, archetype),
    spread: drawSpread(random, archetype),
    endsAtMs: nowMs + lifeSeconds(random, archetype, kind) * 1_000,
    replicas: kind === 'gang' ? drawn : Math.min(drawn, MAX_REPLICAS),
  };
}

function lifeSeconds(random: Random, archetype: Archetype, kind: WorkloadKind): number {
  if (kind === 'gang') return uniformInt(random, ...GANG_LIFE_SECONDS);
  return (drawLifetimeSeconds(random, archetype) * SECONDS_PER_MINUTE) / 60;
}
