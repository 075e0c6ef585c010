// A coordinator without its sockets: metrics, replica and services over any storage engine. The
// process serves it on the network; tests and the simulator on the in-memory transport, under
// virtual time, with the engine in memory.

import type { Runtime } from '@bigfleet/base';
import { createReadiness, type MetricRegistry, type Readiness } from '@bigfleet/telemetry';
import { HealthRegistry, type Router } from '@bigfleet/wire';
import {
  type CoordinatorMetrics,
  createCoordinatorMetrics,
} from '../metrics/coordinator-metrics.ts';
import { type LeaderTermOptions, startLeaderTerm } from '../replica/leader-term.ts';
import { NO_LEADER, type Observation, Replica } from '../replica/replica.ts';
import { createRouter, type RouterParts, SERVED_METHODS } from '../service/router.ts';

const COORDINATOR_SERVICE = 'bigfleet.v1alpha1.Coordinator';

type AssembleOptions = Omit<RouterParts, 'replica' | 'health'> &
  Omit<LeaderTermOptions, 'raiseAbove'>;

export interface AssembledCoordinator {
  readonly replica: Replica;
  readonly router: Router;
  readonly readiness: Readiness;
  readonly health: HealthRegistry;
}

export function assembleCoordinator(options: AssembleOptions): AssembledCoordinator {
  const readiness = createReadiness({ reason: NO_LEADER, latched: false });
  const health = new HealthRegistry();
  health.set(COORDINATOR_SERVICE, 'not-serving');
  const onObserved = ({ problem, status }: Observation): void => {
    // An alarm is no reason to send nobody here: reading still works, and a restart heals nothing.
    if (problem === undefined) readiness.markReady(status?.alarms.join(', '));
    else readiness.markNotReady(problem);
    health.set(COORDINATOR_SERVICE, problem === undefined ? 'serving' : 'not-serving');
  };
  const replica: Replica = new Replica({
    ...options,
    startTerm: (leadership) =>
      startLeaderTerm({ ...options, raiseAbove: (term) => replica.raiseAbove(term) }, leadership),
    onObserved,
  });
  options.metrics.follow(() => replica.leading());
  return { replica, router: createRouter({ ...options, replica, health }), readiness, health };
}

export function metricsOf(registry: MetricRegistry, runtime: Runtime): CoordinatorMetrics {
  return createCoordinatorMetrics({ registry, clock: runtime.clock, rpcs: SERVED_METHODS });
}
