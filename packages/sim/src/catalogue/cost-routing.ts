// `cost-routing`: two archetypes that differ in nothing but what an interruption costs them, so
// that whatever they are given apart follows from the effective cost alone.

import { core, ZONES } from './realistic.ts';
import type { Archetype, Catalogue } from './schema.ts';

const shape: Omit<Archetype, 'name' | 'interruptionPenaltyDollars'> = {
  weight: 1,
  instanceTypes: ['m6i.xlarge'],
  zones: ZONES,
  resources: core('1', '4Gi'),
  priorityClasses: [1000],
  reclamationPenaltyDollars: 0,
  meanLifetimeSeconds: 0,
};

export const costRouting: Catalogue = {
  name: 'cost-routing',
  archetypes: [
    { ...shape, name: 'interruption-tolerant', interruptionPenaltyDollars: 0 },
    { ...shape, name: 'interruption-sensitive', interruptionPenaltyDollars: 8 },
  ],
};
