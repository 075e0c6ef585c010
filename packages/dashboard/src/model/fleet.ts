// The model of the whole fleet: fed by one follower per shard, asked for views at any moment that is kept.

import type { Result } from '@bigfleet/base';
import type { Answer, Params, Problem, ViewName } from '../api/index.ts';
import type { Annotations, Fleet, ModelEvent, Outside } from '../facts.ts';
import { DEFAULT_LIMITS, FleetMirror, type MirrorLimits } from '../mirror/fleet-mirror.ts';
import { type ViewContext, views } from '../views/index.ts';

/** What the model may keep: bytes and age of the history, bytes of records, how many decisions. */
export type FleetLimits = MirrorLimits;

export interface FleetOptions {
  readonly nowMs: () => number;
  readonly isSimulated: boolean;
  readonly outside: Outside;
  readonly limits?: Partial<FleetLimits>;
  /** None when absent. */
  readonly annotations?: Annotations;
}

const NO_ANNOTATIONS: Annotations = { teams: [], conformance: new Map() };

export function createFleet(options: FleetOptions): Fleet {
  const listeners = new Set<(event: ModelEvent) => void>();
  const tell = (event: ModelEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const { nowMs, outside, isSimulated, annotations = NO_ANNOTATIONS } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const mirror = new FleetMirror({ nowMs, limits, tell });
  const context: ViewContext = { mirror, outside, isSimulated, annotations };
  return {
    shard: (name, address) => mirror.shard(name, address),
    coordinator: (facts) => mirror.tellCoordinator(facts),
    source: (source) => mirror.tellSource(source),
    get version() {
      return mirror.version;
    },
    sizes: () => mirror.sizes(),
    async answer<V extends ViewName>(
      view: V,
      params: Params<V>,
    ): Promise<Result<Answer<V>, Problem>> {
      const world = mirror.world('at' in params ? params.at : 0);
      if (!world.ok) return world;
      return await views[view](world.value, params, context);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
