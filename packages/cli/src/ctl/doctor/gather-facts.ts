// Asks an installation everything that doctor looks at. What does not answer becomes a fact too.

import { runWithDeadline } from '@bigfleet/base';
import { BUILD_VERSION } from '../../command.ts';
import { describeFailure } from '../connect/failure.ts';
import type { Links } from '../connect/links.ts';
import type { ShardTarget } from '../connect/shards.ts';
import { dialTarget, hostPortOf, joinHostPort } from '../connect/network.ts';
import type { CtlContext } from '../context.ts';
import { fetchBrakes } from '../kinds/brakes.ts';
import { collect } from '../kinds/kind.ts';
import type { Asked, FleetFacts, LeaderFacts, ReplicaFacts, ShardFacts } from './facts.ts';

const CERTIFICATE_WITHIN_MS = 5_000;
/** Shards looked at together; each costs four calls. */
const SHARDS_AT_ONCE = 8;
const MAX_REPLICAS = 16;

export interface GatherOptions {
  readonly links: Links;
  readonly context: CtlContext;
  /** The addresses as given. */
  readonly coordinators: readonly string[];
}

export async function gatherFacts(options: GatherOptions): Promise<FleetFacts> {
  const { links, context } = options;
  const [replicas, registry] = await Promise.all([
    gatherReplicas(options),
    asked(() => askLeader(links)),
  ]);
  const entries = registry.ok ? registry.value.shards : [];
  return {
    nowUnixNanos: context.runtime.clock.unixNanos(),
    clientVersion: BUILD_VERSION,
    clientCertificateExpiresUnixSeconds: links.tls?.expiresAtUnixSeconds(),
    replicas,
    registry,
    shards: await inGroups(entries, SHARDS_AT_ONCE, (entry) => gatherShard(options, entry)),
  };
}

async function gatherReplicas(options: GatherOptions): Promise<ReplicaFacts[]> {
  const { links, context } = options;
  const targets: { readonly target: string; readonly host: string }[] = [];
  for (const address of options.coordinators) {
    const target = dialTarget(address) ?? address;
    const parts = hostPortOf(target);
    if (parts === undefined) {
      targets.push({ target, host: target });
      continue;
    }
    for (const ip of await context.network.addressesOf(parts.host)) {
      targets.push({ target: joinHostPort(ip, parts.port), host: parts.host });
    }
  }
  return inGroups(targets.slice(0, MAX_REPLICAS), MAX_REPLICAS, async ({ target, host }) => ({
    address: target,
    status: await asked(() =>
      links.coordinator.askReplica({ target, serverName: host }, 'get status', (api, call) =>
        api.admin.getStatus({}, call),
      ),
    ),
    certificateExpiresUnixSeconds: await certificateOf(options, target, host),
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
    bindings: await asked(async () => {
      const { bindings } = await coordinator.ask('list cluster bindings', (api, call) =>
        api.admin.listClusterBindings({ shardId: '' }, call),
      );
      return bindings;
    }),
    transfers: await asked(async () => {
      const { transfers } = await coordinator.ask('list transfers', (api, call) =>
        api.admin.listTransfers({ shardId: '', includeClosed: false }, call),
      );
      return transfers;
    }),
  };
}

/** That another shard answers is a finding of its own, with what that one says beside it. */
const JUDGED_HERE = { isAnyShard: true };

async function gatherShard(
  options: GatherOptions,
  entry: ShardFacts['entry'],
): Promise<ShardFacts> {
  const { links } = options;
  const shard: ShardTarget = { id: entry.shardId, address: entry.address };
  const status = await asked(() =>
    links.shards.ask(
      shard,
      'get shard status',
      (api, call) => api.query.getShardStatus({}, call),
      JUDGED_HERE,
    ),
  );
  const sessions = status.ok
    ? await asked(() =>
        links.shards.ask(
          shard,
          'list sessions',
          (api, call) => collect(api.query.listSessions({}, call)),
          JUDGED_HERE,
        ),
      )
    : { ok: true as const, value: [] };
  const brakes = status.ok
    ? await asked(() => links.shards.ask(shard, 'list brakes', fetchBrakes, JUDGED_HERE))
    : { ok: true as const, value: { enabled: false, needs: [], types: [] } };
  const target = dialTarget(entry.address) ?? entry.address;
  const host = hostPortOf(target)?.host ?? target;
  const certificateExpiresUnixSeconds = status.ok
    ? await certificateOf(options, target, host)
    : undefined;
  return { address: entry.address, entry, status, sessions, brakes, certificateExpiresUnixSeconds };
}

/** Undefined when it cannot be read: that the server cannot be reached is another finding. */
async function certificateOf(
  { links, context }: GatherOptions,
  target: string,
  host: string,
): Promise<number | undefined> {
  const { tls } = links;
  if (tls === undefined) return undefined;
  const answer = await asked(() =>
    runWithDeadline(context.runtime, { ms: CERTIFICATE_WITHIN_MS }, (signal) =>
      context.network.certificateExpiry({ target, serverName: host, tls, signal }),
    ),
  );
  return answer.ok ? answer.value : undefined;
}

async function asked<T>(ask: () => Promise<T>): Promise<Asked<T>> {
  try {
    return { ok: true, value: await ask() };
  } catch (error) {
    return { ok: false, problem: describeFailure(error).line };
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
