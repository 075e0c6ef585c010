// Asks an installation everything that doctor looks at. What does not answer becomes a fact too.

import { err, ok, runWithDeadline } from '@bigfleet/base';
import { describeFailure } from '../connect/failure.ts';
import type { Links } from '../connect/links.ts';
import type { ShardWork } from '../connect/shards.ts';
import { dialTarget, hostPortOf } from '../connect/network.ts';
import type { Invocation } from '../frame/verb.ts';
import { fetchBrakes } from '../kinds/brakes.ts';
import { collect } from '../kinds/kind.ts';
import type { Asked, FleetFacts, LeaderFacts, ReplicaFacts, ShardFacts } from './facts.ts';

const CERTIFICATE_WITHIN_MS = 5_000;
/** Shards looked at together; each costs four calls. */
const SHARDS_AT_ONCE = 8;
const MAX_REPLICAS = 16;
/** Of a shard that does not answer. */
const UNASKED = {
  sessions: ok([]),
  brakes: ok({ enabled: false, needs: [], types: [] }),
  certificateExpiresUnixSeconds: undefined,
};

type GatherOptions = Pick<Invocation<unknown>, 'links' | 'context'>;

export async function gatherFacts(options: GatherOptions): Promise<FleetFacts> {
  const { links, context } = options;
  const [replicas, registry] = await Promise.all([
    gatherReplicas(options),
    asked(() => askLeader(links)),
  ]);
  const entries = registry.ok ? registry.value.shards : [];
  return {
    nowUnixNanos: context.runtime.clock.unixNanos(),
    clientCertificateExpiresUnixSeconds: links.tls?.expiresAtUnixSeconds(),
    replicas,
    registry,
    shards: await inGroups(entries, SHARDS_AT_ONCE, (entry) => gatherShard(options, entry)),
  };
}

async function gatherReplicas(options: GatherOptions): Promise<ReplicaFacts[]> {
  const { coordinator } = options.links;
  const replicas = (await coordinator.replicas()).slice(0, MAX_REPLICAS);
  return inGroups(replicas, MAX_REPLICAS, async (replica) => ({
    address: replica.target,
    status: await asked(() =>
      coordinator.askReplica(replica, 'get status', (api, call) => api.admin.getStatus({}, call)),
    ),
    certificateExpiresUnixSeconds: await certificateOf(options, replica.target, replica.serverName),
  }));
}

async function askLeader(links: Links): Promise<LeaderFacts> {
  const { coordinator } = links;
  const { shards } = await coordinator.ask('list shards', (api, call) =>
    api.coordinator.listShards({}, call),
  );
  const { providers } = await coordinator.ask('list providers', (api, call) =>
    api.coordinator.listProviders({}, call),
  );
  const { allocations } = await coordinator.ask('list quotas', (api, call) =>
    api.coordinator.listQuotas({}, call),
  );
  return {
    shards,
    providers,
    quotas: allocations,
    bindings: await asked(() =>
      coordinator.ask('list cluster bindings', async ({ admin }, call) => {
        const { bindings } = await admin.listClusterBindings({}, call);
        return bindings;
      }),
    ),
    transfers: await asked(() =>
      coordinator.ask('list transfers', async ({ admin }, call) => {
        const { transfers } = await admin.listTransfers({}, call);
        return transfers;
      }),
    ),
  };
}

async function gatherShard(
  options: GatherOptions,
  entry: ShardFacts['entry'],
): Promise<ShardFacts> {
  const { shards } = options.links;
  const shard = { id: entry.shardId, address: entry.address };
  // That another shard answers is a finding of its own, with what that one says beside it.
  const ask = <T>(feature: string, work: ShardWork<T>): Promise<Asked<T>> =>
    asked(() => shards.ask(shard, feature, work, { isAnyShard: true }));
  const status = await ask('get shard status', ({ query }, call) => query.getShardStatus({}, call));
  if (!status.ok) return { entry, status, ...UNASKED };
  const target = dialTarget(entry.address) ?? entry.address;
  return {
    entry,
    status,
    sessions: await ask('list sessions', ({ query }, call) =>
      collect(query.listSessions({}, call)),
    ),
    brakes: await ask('list brakes', fetchBrakes),
    certificateExpiresUnixSeconds: await certificateOf(options, target, hostPortOf(target)?.host),
  };
}

/** Undefined when it cannot be read: that the server cannot be reached is another finding. */
async function certificateOf(
  { links, context }: GatherOptions,
  target: string,
  serverName = target,
): Promise<number | undefined> {
  const { tls } = links;
  if (tls === undefined) return undefined;
  const answer = await asked(() =>
    runWithDeadline(context.runtime, { ms: CERTIFICATE_WITHIN_MS }, (signal) =>
      context.network.certificateExpiry({ target, serverName, tls, signal }),
    ),
  );
  return answer.ok ? answer.value : undefined;
}

async function asked<T>(ask: () => Promise<T>): Promise<Asked<T>> {
  try {
    return ok(await ask());
  } catch (error) {
    return err(describeFailure(error).line);
  }
}

async function inGroups<A, B>(
  items: readonly A[],
  size: number,
  work: (item: A) => Promise<B>,
): Promise<B[]> {
  const done: B[] = [];
  for (let at = 0; at < items.length; at += size) {
    done.push(...(await Promise.all(items.slice(at, at + size).map(work))));
  }
  return done;
}
