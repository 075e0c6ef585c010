// The inventory that a closed loop starts with, shape by shape: what each cluster already has,
// what is idle, what could be bought. Machine n of a tier stands in the rack that the layout says:
// round-robin over all racks, the layout that no gang likes, or blocks of neighbours.

import {
  CapacityType,
  type CapacityTypeCode,
  type Machine,
  noAssignment,
  type Resources,
  State,
  type StateCode,
} from '@bigfleet/engine';
import { RACK_KEY } from '../catalogue/schema.ts';
import { profileOf, type Shape } from './shape.ts';

/** How capacity of one tier is paid for. */
export interface TierTerms {
  readonly capacityType?: CapacityTypeCode;
  readonly pricePerHour?: number;
  readonly interruptionProbability?: number;
}

export interface Tier extends TierTerms {
  readonly count: number;
}

export interface ShapeSeed {
  readonly shape: Shape;
  /** Pods per machine. */
  readonly density: number;
  /** Default 0. */
  readonly configuredPerCluster?: number;
  /** Default bare metal at price 0, as for idle tiers. */
  readonly configuredTerms?: TierTerms;
  readonly idle?: readonly Tier[];
  /** Default terms on demand at $1; a second tier may be cheaper and riskier. */
  readonly speculative?: readonly Tier[];
  /** Default 4. */
  readonly racksPerZone?: number;
  /** Neighbours in one rack before the next rack begins; 0 spreads round-robin. */
  readonly contiguousRackBlock?: number;
}

const OWNED: Required<TierTerms> = {
  capacityType: CapacityType.BareMetal,
  pricePerHour: 0,
  interruptionProbability: 0,
};

const BOUGHT: Required<TierTerms> = {
  capacityType: CapacityType.OnDemand,
  pricePerHour: 1,
  interruptionProbability: 0,
};

const PROVIDER = 'fake';

export function seedMachines(seed: ShapeSeed, clusters: readonly string[]): Machine[] {
  const { shape, configuredPerCluster = 0, configuredTerms, idle = [], speculative = [] } = seed;
  const configured = clusters.flatMap((cluster, at) =>
    tierMachines(seed, {
      prefix: `${shape.name}-${cluster}`,
      state: State.Configured,
      cluster,
      count: configuredPerCluster,
      // Racks run on from cluster to cluster: two clusters do not share a block by accident.
      firstOrdinal: at * configuredPerCluster,
      terms: { ...OWNED, ...configuredTerms },
    }),
  );
  const pooled = (tiers: readonly Tier[], state: StateCode, defaults: Required<TierTerms>) =>
    tiers.flatMap(({ count, ...terms }, at) =>
      tierMachines(seed, {
        prefix: `${shape.name}-${state === State.Idle ? 'idle' : 'spec'}${at + 1}`,
        state,
        cluster: '',
        count,
        firstOrdinal: 0,
        terms: { ...defaults, ...terms },
      }),
    );
  return [
    ...configured,
    ...pooled(idle, State.Idle, OWNED),
    ...pooled(speculative, State.Speculative, BOUGHT),
  ];
}

interface TierPlan {
  readonly prefix: string;
  readonly state: StateCode;
  readonly cluster: string;
  readonly count: number;
  readonly firstOrdinal: number;
  readonly terms: Required<TierTerms>;
}

function tierMachines(seed: ShapeSeed, plan: TierPlan): Machine[] {
  const { shape } = seed;
  const profile = profileOf(shape);
  const { priority, interruptionBucket, reclamationBucket } = profile;
  // Gang machines are attributed by the initial fill, and only when asked.
  const needFingerprint = shape.same === undefined ? profile.fingerprint : '';
  const stamps = { priority, interruptionBucket, reclamationBucket, needFingerprint, group: '' };
  return Array.from({ length: plan.count }, (_, at) => {
    const id = `${plan.prefix}-${String(at + 1).padStart(3, '0')}`;
    const ordinal = plan.firstOrdinal + at;
    const { zone, rack } = placeOf(seed, ordinal);
    return {
      id,
      state: plan.state,
      provider: PROVIDER,
      host:
        plan.state === State.Speculative ? undefined : { provider: PROVIDER, ref: `host-${id}` },
      cluster: plan.cluster,
      instanceType: shape.instanceTypes[ordinal % shape.instanceTypes.length] ?? '',
      zone,
      labels: new Map([[RACK_KEY, rack]]),
      allocatable: scaled(shape.perPod, seed.density),
      ...plan.terms,
      lastError: '',
      assigned: plan.state === State.Configured ? stamps : noAssignment,
      intendedCluster: '',
      withheld: undefined,
    };
  });
}

/** Racks are numbered across zones, so that round-robin visits every zone before a second rack. */
function placeOf(seed: ShapeSeed, ordinal: number): { zone: string; rack: string } {
  const { shape, racksPerZone = 4, contiguousRackBlock = 0 } = seed;
  const slot = contiguousRackBlock === 0 ? ordinal : Math.floor(ordinal / contiguousRackBlock);
  const index = slot % (shape.zones.length * racksPerZone);
  const zone = shape.zones[index % shape.zones.length] ?? '';
  return { zone, rack: `${zone}-rack-${Math.floor(index / shape.zones.length) + 1}` };
}

function scaled(perPod: Resources, factor: number): Resources {
  return new Map([...perPod].map(([name, value]) => [name, value * factor]));
}
