// Plays the story of one cluster's workloads: Deployments are created, scaled and deleted through the
// API server, as their owners would. A change that the server refuses, or that a person overtook by
// deleting the Deployment, is noted and left.

import { BigFleetError, describeThrown, type Runtime, sleep } from '@bigfleet/base';
import { type ApiAnswer, describeRefusal, type KubeClient } from '@bigfleet/kube';
import type { Logger } from '@bigfleet/telemetry';
import { DEPLOYMENTS, NAMESPACE } from '../kube/resources.ts';
import { deploymentOf } from './deployment.ts';
import type { Population, WorkloadChange } from './population.ts';

export interface StoryOptions {
  readonly runtime: Runtime;
  readonly client: KubeClient;
  readonly population: Population;
  readonly logger: Logger;
}

/** Until the signal. */
export async function tellStory(options: StoryOptions, signal: AbortSignal): Promise<void> {
  const { runtime, population, logger } = options;
  const startMs = runtime.clock.monotonicMs();
  try {
    for (let step = population.first(); ; step = population.next()) {
      const waitMs = startMs + step.atMs - runtime.clock.monotonicMs();
      if (waitMs > 0) await sleep(runtime, waitMs, signal);
      signal.throwIfAborted();
      for (const change of step.changes) await tell(options, change, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    logger.debug('the story ends');
  }
}

async function tell(
  { client, logger }: StoryOptions,
  change: WorkloadChange,
  signal: AbortSignal,
): Promise<void> {
  const { name } = change.object;
  try {
    const answer = await send(client, change, signal);
    if (answer.kind === 'refused') {
      logger.warn('a workload was refused', { name, err: describeRefusal(answer) });
    }
  } catch (error) {
    if (signal.aborted || !(error instanceof BigFleetError)) throw error;
    logger.warn('a workload was not written', { name, err: describeThrown(error) });
  }
}

function send(
  client: KubeClient,
  { kind, object, replicas }: WorkloadChange,
  signal: AbortSignal,
): Promise<ApiAnswer> {
  const target = { namespace: NAMESPACE, name: object.name };
  const how = { lane: 'demand', signal } as const;
  switch (kind) {
    case 'start':
      return client.create(DEPLOYMENTS, deploymentOf(object, replicas), how);
    case 'scale':
      return client.mergePatch(DEPLOYMENTS, target, { ...how, patch: { spec: { replicas } } });
    case 'end':
      return client.delete(DEPLOYMENTS, target, how);
  }
}
