// What a visitor may turn: factors on a written plan. 1 is as written, and 0 clusters are those of the plan.

import { CapacityType } from '@bigfleet/engine';
import type { ClusterPlan, LoopPlan } from '../closed-loop/closed-loop.ts';
import type { ShapeSeed, Tier, TierTerms } from '../closed-loop/seed-machines.ts';
import type { Shape, Workload } from '../closed-loop/shape.ts';

export interface WatchSettings {
  readonly clusters: number;
  readonly demand: number;
  readonly spotPrice: number;
  readonly interruption: number;
  readonly penalty: number;
  readonly machines: number;
}

export const asWritten: WatchSettings = {
  clusters: 0,
  demand: 1,
  spotPrice: 1,
  interruption: 1,
  penalty: 1,
  machines: 1,
};

/** A probability stays one, and never becomes certainty. */
const MAX_PROBABILITY = 0.99;

export function withSettings(plan: LoopPlan, settings: WatchSettings): LoopPlan {
  const { demand } = settings;
  return {
    ...plan,
    clusters: clustersOf(plan.clusters, settings).map((cluster) => ({
      ...cluster,
      workloads: cluster.workloads.map((workload) => workloadOf(workload, settings)),
    })),
    seeds: plan.seeds.map((seed) => seedOf(seed, settings)),
    ...(plan.scales === undefined
      ? {}
      : {
          scales: plan.scales.map((event) => ({
            ...event,
            replicas: scaled(event.replicas, demand),
          })),
        }),
  };
}

/** Of one machine on Spot terms. */
export function spotTerms<T extends TierTerms>(terms: T, settings: WatchSettings): T {
  if (terms.capacityType !== CapacityType.Spot) return terms;
  const { pricePerHour = 1, interruptionProbability = 0 } = terms;
  return {
    ...terms,
    pricePerHour: pricePerHour * settings.spotPrice,
    interruptionProbability: riskOf(interruptionProbability, settings),
  };
}

export function riskOf(probability: number, { interruption }: WatchSettings): number {
  return Math.min(MAX_PROBABILITY, probability * interruption);
}

/** Further clusters are copies of those in the plan, in turn. */
function clustersOf(
  plans: readonly ClusterPlan[],
  { clusters }: WatchSettings,
): readonly ClusterPlan[] {
  if (clusters <= 0 || plans.length === 0) return plans;
  return Array.from({ length: clusters }, (_, at) => {
    const plan = plans[at % plans.length] as ClusterPlan;
    const copy = Math.floor(at / plans.length);
    return copy === 0 ? plan : { ...plan, id: `${plan.id}-${copy + 1}` };
  });
}

/** A gang keeps its size, there are more of them. */
function workloadOf(workload: Workload, settings: WatchSettings): Workload {
  const { shape, objects, replicas } = workload;
  const isGang = shape.same !== undefined;
  return {
    shape: shapeWith(shape, settings),
    objects: isGang ? Math.max(1, scaled(objects, settings.demand)) : objects,
    replicas: isGang ? replicas : scaled(replicas, settings.demand),
  };
}

function shapeWith(shape: Shape, { penalty }: WatchSettings): Shape {
  return { ...shape, interruptionPenaltyDollars: shape.interruptionPenaltyDollars * penalty };
}

function seedOf(seed: ShapeSeed, settings: WatchSettings): ShapeSeed {
  const tier = (terms: Tier): Tier => ({
    ...spotTerms(terms, settings),
    count: scaled(terms.count, settings.machines),
  });
  return {
    ...seed,
    shape: shapeWith(seed.shape, settings),
    ...(seed.idle === undefined ? {} : { idle: seed.idle.map(tier) }),
    ...(seed.speculative === undefined ? {} : { speculative: seed.speculative.map(tier) }),
  };
}

function scaled(count: number, factor: number): number {
  return Math.round(count * factor);
}
