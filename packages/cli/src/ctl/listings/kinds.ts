// The kinds that `get` and `describe` know.

import { listBrakes } from './brakes.ts';
import { listClusters } from './clusters.ts';
import { listDomains } from './domains.ts';
import type { Listing } from './listing.ts';
import { listMachines } from './machines.ts';
import { listNeeds } from './needs.ts';
import { listProviders } from './providers.ts';
import { listQuotas } from './quotas.ts';
import { listSessions } from './sessions.ts';
import { listShardStatuses } from './shards.ts';
import { listShortfalls } from './shortfalls.ts';
import { listTransfers } from './transfers.ts';

export const KINDS = [
  'machines',
  'needs',
  'shortfalls',
  'brakes',
  'sessions',
  'clusters',
  'shards',
  'domains',
  'quotas',
  'providers',
  'transfers',
] as const;

export type Kind = (typeof KINDS)[number];

export const LISTINGS: Readonly<Record<Kind, Listing<object>>> = {
  machines: listMachines,
  needs: listNeeds,
  shortfalls: listShortfalls,
  brakes: listBrakes,
  sessions: listSessions,
  clusters: listClusters,
  shards: listShardStatuses,
  domains: listDomains,
  quotas: listQuotas,
  providers: listProviders,
  transfers: listTransfers(false),
};

export const SINGULARS: readonly string[] = KINDS.map((kind) => kind.slice(0, -1));

/** Either form: both are what people type. */
export function kindOf(word: string): Kind | undefined {
  return KINDS.find((kind) => kind === word || kind.slice(0, -1) === word);
}
