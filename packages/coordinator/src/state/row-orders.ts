// The one order of each table (coordinator §2.3): by the text of its key, code point by code point,
// so that lists, snapshots and decisions do not depend on insertion order or on a locale.

import { compareText } from '@bigfleet/base';
import type { Table, TableRows } from './rows.ts';

type Orders = { readonly [T in Table]: (a: TableRows[T], b: TableRows[T]) => number };

export const rowOrders: Orders = {
  shards: (a, b) => compareText(a.id, b.id),
  clusters: (a, b) => compareText(a.clusterId, b.clusterId),
  domains: (a, b) => compareText(a.key, b.key) || compareText(a.value, b.value),
  quotas: (a, b) => compareText(a.provider, b.provider) || compareText(a.region, b.region),
  providers: (a, b) => compareText(a.name, b.name),
  homes: (a, b) => compareText(a.providerAddress, b.providerAddress),
  transfers: (a, b) => compareText(a.id, b.id),
  overrides: (a, b) => compareText(a.machineId, b.machineId),
};
