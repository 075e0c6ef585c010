// The in-process provider of --fake-provider: seeded, and hurt, as its settings say. It starts by
// the flag only, never because an address is missing. A shard loads this file when it is asked for a
// fake: one that is deployed does not carry it.

import type { Runtime, Timer } from '@bigfleet/base';
import { CapacityType, type CapacityTypeCode } from '@bigfleet/engine';
import type { Logger } from '@bigfleet/telemetry';
import type { TokenSource } from '@bigfleet/wire';
import type { FakeSpec } from './fake/fake-machine.ts';
import { FakeProvider } from './fake/fake-provider.ts';
import { InProcessProvider } from './fake/in-process.ts';

const TICK_MS = 1_000;
const ZONES: readonly string[] = ['fake-zone-a', 'fake-zone-b', 'fake-zone-c'];
const CORES = 4;
const MEMORY_GIB = 16;

/** For laptops and load tests. */
export interface FakeSettings {
  /** Machines by name, idle from the start, beside those that are counted below. */
  readonly machines?: readonly FakeSpec[];
  readonly idleCount: number;
  readonly speculativeCount: number;
  readonly spotCount: number;
  readonly configuredPerCluster: number;
  readonly clusterTotal: number;
  readonly clusterStride: number;
  /** Of --id; undefined when it carries none. */
  readonly ordinal: number | undefined;
  /** Allocatable = this × resources. */
  readonly densityMultiplier: number;
  /** Per Configured machine. */
  readonly failuresPerSecond: number;
  readonly shedAtSeconds: number;
  /** What is left of the quota; no shedding unless within (0, 1). */
  readonly shedMultiplier: number;
  readonly createLatencyMs: number | undefined;
}

export interface FakeFleet {
  readonly provider: InProcessProvider;
  close(): void;
}

export interface FakeFleetOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly tokens: TokenSource;
  readonly settings: FakeSettings;
}

export function createFakeFleet(options: FakeFleetOptions): FakeFleet {
  const { runtime, logger, tokens, settings } = options;
  const fake = new FakeProvider({ runtime, createLatencyMs: settings.createLatencyMs });
  seed(fake, settings);
  logger.warn('the provider is a fake in this process', { machines: fake.machineCount });
  const harm = startHarm(runtime, fake, settings);
  return {
    provider: new InProcessProvider({ runtime, fake, tokens }),
    close: () => {
      harm.stop();
      fake.close();
    },
  };
}

function seed(fake: FakeProvider, settings: FakeSettings): void {
  const { idleCount, speculativeCount, spotCount, densityMultiplier: density } = settings;
  for (const spec of settings.machines ?? []) fake.addIdle(spec);
  for (const spec of specs('idle', idleCount, CapacityType.BareMetal, density)) fake.addIdle(spec);
  for (const spec of specs('slot', speculativeCount, CapacityType.OnDemand, density)) {
    fake.addSpeculative(spec);
  }
  for (const spec of specs('spot', spotCount, CapacityType.Spot, density)) {
    fake.addSpeculative(spec);
  }
  for (const cluster of seededClusters(settings)) {
    const name = `bound-${cluster}`;
    const { configuredPerCluster } = settings;
    for (const spec of specs(name, configuredPerCluster, CapacityType.BareMetal, density)) {
      fake.addConfigured(spec, cluster);
    }
  }
}

/** `kwok-cluster-{c}` for this shard's share of the clusters. */
function seededClusters(settings: FakeSettings): readonly string[] {
  const { clusterTotal, clusterStride, ordinal, configuredPerCluster } = settings;
  if (configuredPerCluster === 0) return [];
  const stride = Math.max(1, clusterStride);
  return Array.from({ length: clusterTotal }, (_, index) => index)
    .filter((index) => index % stride === (ordinal ?? 0) % stride)
    .map((index) => `kwok-cluster-${index}`);
}

const prices: Readonly<Record<CapacityTypeCode, number>> = { 1: 0, 2: 0, 3: 0.4, 4: 0.12 };

function* specs(
  name: string,
  count: number,
  capacityType: CapacityTypeCode,
  density: number,
): Iterable<FakeSpec> {
  const isSpot = capacityType === CapacityType.Spot;
  const resources = new Map([
    ['cpu', `${CORES}`],
    ['memory', `${MEMORY_GIB}Gi`],
  ]);
  const allocatable = new Map([
    ['cpu', `${CORES * density}`],
    ['memory', `${MEMORY_GIB * density}Gi`],
    ['pods', `${110 * density}`],
  ]);
  const labels = new Map([['fake.bigfleet/pool', 'default']]);
  for (let index = 0; index < count; index++) {
    yield {
      id: `fake-${name}-${index}`,
      instanceType: 'fake-standard-4',
      zone: ZONES[index % ZONES.length] ?? '',
      capacityType,
      pricePerHour: prices[capacityType],
      interruptionProbability: isSpot ? 0.05 : 0,
      resources,
      allocatable,
      labels,
    };
  }
}

/** Failures and quota loss, once a second, from the runtime's seeded randomness. */
function startHarm(
  runtime: Runtime,
  fake: FakeProvider,
  { failuresPerSecond, shedAtSeconds, shedMultiplier }: FakeSettings,
): { stop(): void } {
  const sheds = shedAtSeconds > 0 && shedMultiplier > 0 && shedMultiplier < 1;
  const shedder = sheds
    ? runtime.timers.after(shedAtSeconds * 1_000, () => fake.shedSpeculative(1 - shedMultiplier))
    : undefined;
  let ticker: Timer | undefined;
  const tick = (): void => {
    const count = poisson(runtime, failuresPerSecond * fake.configuredCount);
    for (let failed = 0; failed < count; failed++) failOne(fake);
    ticker = runtime.timers.after(TICK_MS, tick);
  };
  if (failuresPerSecond > 0) ticker = runtime.timers.after(TICK_MS, tick);
  return {
    stop: () => {
      shedder?.cancel();
      ticker?.cancel();
    },
  };
}

function failOne(fake: FakeProvider): void {
  const machineId = fake.randomConfiguredMachine();
  if (machineId !== undefined) fake.failMachine(machineId, 'host lost: injected');
}

/** Knuth's: fine for the few failures of one second; beyond 500 the mean stands for itself. */
function poisson({ random }: Runtime, mean: number): number {
  if (mean <= 0) return 0;
  if (mean > 500) return Math.round(mean);
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = random.float(); product > limit; product *= random.float()) count += 1;
  return count;
}
