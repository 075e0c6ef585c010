// Values of the engine as messages of the wire carry them.

import { printResources, type Requirement, type Resources } from '@bigfleet/engine';
import { fromMap, type PenaltyBucket } from '@bigfleet/wire';

/** The wire numbers operators as we do. */
export function wireRequirements(requirements: readonly Requirement[]): WireRequirement[] {
  return requirements.map(({ key, operator, values }) => ({ key, operator, values: [...values] }));
}

export type WireRequirement = Pick<Requirement, 'key' | 'operator'> & { values: string[] };

/** The wire numbers buckets as we do. */
export function wireBucket(bucket: number): PenaltyBucket {
  return bucket as PenaltyBucket;
}

export function wireResources(resources: Resources): { resources: { [name: string]: string } } {
  return { resources: fromMap(printResources(resources)) };
}
