// The largest fleet that the coordinator is meant for: 200 shards, ten of them behind each of twenty
// providers, 500 domains and 100 clusters each. Every row goes in through the ledger, one command at
// a time, so that filling it shows a cost that grows with the state.

import type { CommandBody, Ledger } from '@bigfleet/coordinator';

export const SHARDS = 200;
export const DOMAINS = 100_000;
export const CLUSTERS = 20_000;
export const CLUSTERS_PER_SHARD: number = CLUSTERS / SHARDS;
const DOMAINS_PER_SHARD = DOMAINS / SHARDS;
const SHARDS_PER_PROVIDER = 10;
const PROVIDERS = SHARDS / SHARDS_PER_PROVIDER;
const RACK = 'topology.kubernetes.io/rack';

export const shardId = (shard: number): string => `shard-${String(shard).padStart(3, '0')}`;
export const clusterId = (shard: number, at: number): string => `cluster-${shard}-${at}`;

interface ProviderName {
  readonly name: string;
  readonly address: string;
}

export function providerOf(shard: number): ProviderName {
  return providerAt(Math.floor(shard / SHARDS_PER_PROVIDER));
}

/** A further domain of shard 0, for changes after filling. */
export function anotherDomain(at: number): CommandBody {
  return { kind: 'AssignDomain', domain: { key: RACK, value: `late-${at}` }, shard: shardId(0) };
}

export async function fillFleet(ledger: Ledger): Promise<void> {
  for (const command of commands()) {
    const result = await ledger.apply(command);
    if (result.kind !== 'applied') throw new Error(`${command.kind} was ${result.kind}`);
  }
}

function providerAt(at: number): ProviderName {
  return { name: `provider-${at}`, address: `provider-${at}.bench:9000` };
}

function* commands(): Generator<CommandBody> {
  for (let shard = 0; shard < SHARDS; shard++) {
    const id = shardId(shard);
    yield { kind: 'AddShard', id, address: `${id}.bench:7780`, registeredAtMs: 1 };
  }
  for (let at = 0; at < PROVIDERS; at++) {
    const shards = Array.from({ length: SHARDS_PER_PROVIDER }, (_, seat) =>
      shardId(at * SHARDS_PER_PROVIDER + seat),
    );
    const entry = { ...providerAt(at), region: `region-${at}`, declaredQuota: 0, shards };
    yield { kind: 'UpsertProvider', entry };
  }
  for (let at = 0; at < DOMAINS; at++) {
    const shard = shardId(Math.floor(at / DOMAINS_PER_SHARD));
    yield { kind: 'AssignDomain', domain: { key: RACK, value: `rack-${at}` }, shard };
  }
  for (let at = 0; at < CLUSTERS; at++) {
    const shard = Math.floor(at / CLUSTERS_PER_SHARD);
    const cluster = clusterId(shard, at % CLUSTERS_PER_SHARD);
    yield { kind: 'BindCluster', cluster, shard: shardId(shard), force: false };
  }
}
