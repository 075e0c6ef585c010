// The demand of a cluster twice: as a fresh full list of the API server gives it, and as a shard has it from
// the cluster's operator. Whatever an operator's cache lost, kept or mixed up makes the two differ.

import { compareText } from '@bigfleet/base';
import { CAPACITY_REQUESTS, collectionPath } from '@bigfleet/kube';
import { type CapacityRequest, DemandIndex } from '@bigfleet/operator';
import { needsOf } from '../shard/query.ts';
import { eventually, HANG_MS } from '../toolkit/index.ts';
import type { Api } from './api.ts';

export interface Stored {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

export interface Need {
  readonly fingerprint: string;
  readonly group: string;
  readonly resources: Readonly<Record<string, string>>;
  readonly minUnit: Readonly<Record<string, string>>;
}

export const REQUESTS: string = collectionPath(CAPACITY_REQUESTS);
const FOREIGN_NODE = 'bigfleet.lucy.sh/foreign-node';

/** All of it, from etcd and not from a cache of the server. */
export async function listAll(api: Api, path: string): Promise<readonly Stored[]> {
  const found: Stored[] = [];
  let token = '';
  do {
    const more = token === '' ? '' : `&continue=${encodeURIComponent(token)}`;
    const page = await api.must(api.get(`${path}?limit=5000${more}`));
    found.push(...(page['items'] as Stored[]));
    token = String((page['metadata'] as { continue?: string }).continue ?? '');
  } while (token !== '');
  return found;
}

async function listedNeeds(api: Api): Promise<readonly Need[]> {
  const index = new DemandIndex();
  for (const { metadata, spec, status } of await listAll(api, REQUESTS)) {
    index.set({
      ...metadata,
      spec: spec as unknown as CapacityRequest['spec'],
      isForeign: metadata.labels?.[FOREIGN_NODE] === 'true',
      isAcknowledged: status?.['phase'] === 'Acknowledged',
    });
  }
  return index.rollup().needs.map(({ profile, group, aggregateResources, minUnit }) => ({
    fingerprint: profile.fingerprint,
    group,
    resources: Object.fromEntries(aggregateResources),
    minUnit: Object.fromEntries(minUnit),
  }));
}

export async function needsAtShard(
  address: string,
  clusterId: string,
): Promise<readonly Need[] | undefined> {
  const views = await needsOf(address, clusterId);
  return views
    ?.map(({ profileFingerprint, need }) => ({
      fingerprint: profileFingerprint,
      group: need?.group ?? '',
      resources: { ...need?.aggregateResources },
      minUnit: { ...need?.minUnit },
    }))
    .sort((a, b) => compareText(order(a), order(b)));
}

function order({ fingerprint, group }: Need): string {
  return `${fingerprint} ${group}`;
}

/** Until the shard has exactly what a fresh list says; returns that. */
export async function demandIsWhole(
  api: Api,
  shardAddress: string,
  clusterId: string,
): Promise<readonly Need[]> {
  let seen: { listed: readonly Need[]; told: readonly Need[] | undefined } | undefined;
  return eventually(
    async () => {
      const listed = await listedNeeds(api);
      const told = await needsAtShard(shardAddress, clusterId);
      seen = { listed, told };
      return told !== undefined && text(told) === text(listed) && listed;
    },
    {
      what: `the shard has the demand of ${clusterId}`,
      everyMs: 500,
      withinMs: 3 * HANG_MS,
      details: () => `listed ${text(seen?.listed)}\nat the shard ${text(seen?.told)}`,
    },
  );
}

function text(needs: readonly Need[] | undefined): string {
  return JSON.stringify(
    needs?.map(({ fingerprint, group, resources, minUnit }) => [
      fingerprint,
      group,
      sorted(resources),
      sorted(minUnit),
    ]),
  );
}

function sorted(amounts: Need['resources']): readonly (readonly [string, string])[] {
  return Object.entries(amounts).sort(([a], [b]) => compareText(a, b));
}
