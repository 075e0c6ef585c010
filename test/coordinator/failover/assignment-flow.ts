// A steady flow of new assignments to the shards: a domain is assigned to one of them, and unassigned
// a while later. What a failing leader refuses or loses is not retried: the next change carries the
// flow on, and the question here is whether a shard ever goes back to an older assignment.

import { ATTEMPT_MS, withDeadline } from '../../toolkit/index.ts';
import { Background } from './background.ts';
import type { CoordinatorProcess } from './coordinator-process.ts';

const EVERY_MS = 200;
const HELD_DOMAINS = 20;

export interface AssignmentFlowOptions {
  readonly replicas: readonly CoordinatorProcess[];
  readonly shardIds: readonly string[];
  /** By node id, asked before each round. */
  readonly mayWriteTo: (nodeId: string) => boolean;
}

/** Ends with its scope. */
export function startAssignmentFlow(options: AssignmentFlowOptions): AsyncDisposable {
  const { replicas, shardIds, mayWriteTo } = options;
  let at = 0;
  return new Background(EVERY_MS, async () => {
    at += 1;
    const shardId = shardIds[at % shardIds.length] ?? '';
    const running = replicas.filter((each) => each.isRunning && mayWriteTo(each.nodeId));
    await Promise.all(running.map((replica) => askForBoth(replica, at, shardId)));
  });
}

/** Asked of every replica; all but the leader refuse. */
async function askForBoth(
  { coordinator }: CoordinatorProcess,
  at: number,
  shardId: string,
): Promise<void> {
  const topologyKey = 'rack';
  await attempt((signal) =>
    coordinator.assignDomain({ topologyKey, topologyValue: `r-${at}`, shardId }, { signal }),
  );
  const topologyValue = `r-${at - HELD_DOMAINS}`;
  await attempt((signal) => coordinator.unassignDomain({ topologyKey, topologyValue }, { signal }));
}

async function attempt(call: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  await withDeadline('a change of domains', ATTEMPT_MS, call).catch(() => {}); // followers refuse
}
