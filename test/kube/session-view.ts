// The session between the operator of a world and its shard, as the metrics of both sides tell of it, and what
// the cluster has of it.

import { eventually, http } from '../toolkit/index.ts';
import { listAll, type Stored } from './demand.ts';
import { podsPath, requestsPath } from './pods-and-requests.ts';
import type { World } from './world/world.ts';

const CONNECTED = 'bigfleet_operator_session_connected';
const LAST_ACKED = 'bigfleet_operator_rollup_last_acked_timestamp_seconds';
export const UPCOMING_NODES = '/apis/bigfleet.lucy.sh/v1alpha1/upcomingnodes';

/** That the shard took in or refused, since it started. */
export async function rollupCount({ shard }: World): Promise<number> {
  const { body } = await http({ url: `http://${shard.metricsAddress}/metrics` });
  const values = body.matchAll(/^bigfleet_shard_rollups_total\{[^}]*\} (\d+)$/gm);
  return Array.from(values, ([, value]) => Number(value)).reduce((a, b) => a + b, 0);
}

export function sessionCount(
  { shard }: World,
  event: 'installed' | 'replaced' | 'removed',
): Promise<number> {
  return shard.metric(`bigfleet_shard_session_lifecycle_total{event="${event}"}`);
}

export function isConnected(
  world: World,
  operator: { metric(series: string): Promise<number | undefined> } = world.operator,
): Promise<true> {
  return eventually(async () => (await operator.metric(CONNECTED)) === 1, {
    what: 'the operator is connected',
    details: () => world.tails(),
  });
}

/** As many more roll-ups as told are acknowledged. */
export async function rollupsGoOn({ operator }: World, count = 1): Promise<void> {
  for (let at = 0; at < count; at++) {
    const seen = await operator.metric(LAST_ACKED);
    await eventually(async () => (await operator.metric(LAST_ACKED)) > seen, {
      what: 'another roll-up is acknowledged',
      details: () => operator.tail(),
    });
  }
}

export function upcomingNodes({ plane }: World): Promise<readonly Stored[]> {
  return listAll(plane.admin, UPCOMING_NODES);
}

/** Waits until so many Pods of the namespace run; returns them. */
export function runningPods(
  { plane }: World,
  namespace: string,
  count: number,
): Promise<readonly Stored[]> {
  let seen: readonly Stored[] = [];
  return eventually(
    async () => {
      seen = await listAll(plane.admin, podsPath(namespace));
      const all = seen.filter(({ status }) => status?.['phase'] === 'Running');
      return all.length === count && all;
    },
    { what: `${count} Pods run`, everyMs: 100, details: () => described(seen) },
  );
}

/** Waits until nothing is left of what Pods asked for and of what was bought for them. */
export async function nothingIsLeft({ plane }: World, namespace: string): Promise<void> {
  let seen: readonly Stored[] = [];
  for (const path of [requestsPath(namespace), UPCOMING_NODES, '/api/v1/nodes']) {
    await eventually(
      async () => {
        seen = await listAll(plane.admin, path);
        return seen.length === 0;
      },
      { what: `nothing is left at ${path}`, everyMs: 100, details: () => described(seen) },
    );
  }
}

export function described(objects: readonly Stored[]): string {
  return objects
    .map(({ metadata, status }) => `${metadata.name} ${JSON.stringify(status?.['phase'] ?? '')}`)
    .join('\n');
}
