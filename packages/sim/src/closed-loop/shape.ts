// What one Pod of a workload asks for, and the profile that its capacity request carries. Shapes
// come from the catalogue, so that loops, seeds and load speak of the same workloads.

import { bucketOfDollars } from '@bigfleet/base';
import {
  createProfile,
  INSTANCE_TYPE_KEY,
  Operator,
  type Profile,
  type Requirement,
  type Resources,
  ZONE_KEY,
} from '@bigfleet/engine';
import { type Archetype, RACK_KEY, sizesOf } from '../catalogue/schema.ts';
import { podResources } from '../catalogue/sizing.ts';

export interface Shape {
  readonly name: string;
  readonly perPod: Resources;
  readonly instanceTypes: readonly string[];
  readonly zones: readonly string[];
  readonly priority: number;
  readonly interruptionPenaltyDollars: number;
  readonly reclamationPenaltyDollars: number;
  /** One object is then one gang. */
  readonly same?: 'rack' | 'zone';
}

/** Some objects of one shape in one cluster, all of the same size. */
export interface Workload {
  readonly shape: Shape;
  readonly objects: number;
  readonly replicas: number;
}

/** The archetype's first size and first priority; loops need one of each, not a draw. */
export function shapeOf(archetype: Archetype): Shape {
  const same =
    archetype.sameRack === true ? 'rack' : archetype.sameZone === true ? 'zone' : undefined;
  return {
    name: archetype.name,
    perPod: podResources(sizesOf(archetype)[0]?.resources ?? {}),
    instanceTypes: archetype.instanceTypes,
    zones: archetype.zones,
    priority: archetype.priorityClasses[0] ?? 0,
    interruptionPenaltyDollars: archetype.interruptionPenaltyDollars,
    reclamationPenaltyDollars: archetype.reclamationPenaltyDollars,
    ...(same === undefined ? {} : { same }),
  };
}

/** The topology key in which a gang must stay together. */
export function domainKeyOf(shape: Shape): string | undefined {
  if (shape.same === undefined) return undefined;
  return shape.same === 'rack' ? RACK_KEY : ZONE_KEY;
}

export function profileOf(shape: Shape): Profile {
  const requirements: Requirement[] = [
    { key: INSTANCE_TYPE_KEY, operator: Operator.In, values: shape.instanceTypes },
    { key: ZONE_KEY, operator: Operator.In, values: shape.zones },
  ];
  const key = domainKeyOf(shape);
  if (key !== undefined) requirements.push({ key, operator: Operator.Same, values: [] });
  return createProfile({
    requirements,
    spread: [],
    priority: shape.priority,
    interruptionBucket: bucketOfDollars(shape.interruptionPenaltyDollars),
    reclamationBucket: bucketOfDollars(shape.reclamationPenaltyDollars),
  });
}
