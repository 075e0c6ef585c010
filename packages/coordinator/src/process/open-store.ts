// The storage engine that the settings ask for. SQLite has nothing beside it.

import { SqliteStore } from '../store/sqlite/sqlite-store.ts';
import { openExternalEtcd } from './external-etcd.ts';
import { openManagedEtcd } from './managed-etcd.ts';
import type { OpenStoreOptions, StoreParts } from './store-parts.ts';

export function openStore(options: OpenStoreOptions): Promise<StoreParts> {
  const { store } = options.settings;
  switch (store.kind) {
    case 'sqlite':
      return Promise.resolve(sqliteParts(options));
    case 'external-etcd':
      return openExternalEtcd(options, store);
    case 'managed-etcd':
      return Promise.resolve(openManagedEtcd(options, store));
  }
}

function sqliteParts({ runtime, settings }: OpenStoreOptions): StoreParts {
  const { dataDir, nodeId, advertiseAddress: grpcAddress, mayBootstrap: bootstrap } = settings;
  return {
    store: new SqliteStore({ runtime, dataDir, nodeId, grpcAddress, bootstrap }),
    join: { kind: 'refuse', message: 'store engine sqlite is single-replica' },
  };
}
