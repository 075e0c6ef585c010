// The storage engine that the settings ask for. SQLite has nothing beside it.

import { readFile } from 'node:fs/promises';
import { BigFleetError, describeThrown } from '@bigfleet/base';
import { tlsFromFlags, type TlsMaterial } from '@bigfleet/wire';
import type { EtcdUser } from '../etcd-client/caller.ts';
import { EtcdClient } from '../etcd-client/client.ts';
import { refuseJoin } from '../service/join-handlers.ts';
import { takeDataDir } from '../store/data-dir.ts';
import { SqliteStore } from '../store/sqlite/sqlite-store.ts';
import { openManagedEtcd } from './managed-etcd.ts';
import type { EtcdCredentials, StoreSettings } from './settings.ts';
import { type OpenStoreOptions, type StoreParts, etcdEngine } from './store-parts.ts';

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
    join: refuseJoin('store engine sqlite is single-replica'),
  };
}

type External = Extract<StoreSettings, { kind: 'external-etcd' }>;

/** An etcd that the platform team runs: endpoints and credentials are theirs, membership too. */
async function openExternalEtcd(
  options: OpenStoreOptions,
  { endpoints, credentials, prefix, leaseTtlMs: leaderLeaseTtlMs }: External,
): Promise<StoreParts> {
  const { runtime, settings } = options;
  const user = etcdUser(credentials);
  await user?.password();
  const client = new EtcdClient({ runtime, endpoints, tls: etcdTls(credentials), user });
  const lock = takeDataDir(settings.dataDir);
  return {
    store: etcdEngine(options, { client, prefix, leaderLeaseTtlMs, peerAddress: '' }),
    join: refuseJoin('membership of an external etcd is not managed here'),
    close: () => lock.release(),
  };
}

function etcdTls({ cert, key, ca }: EtcdCredentials): TlsMaterial | undefined {
  const material = tlsFromFlags({ cert, key, ca, env: {} });
  return material === 'plaintext' ? undefined : material;
}

/** Read each time it is asked for, so that a rotated file is believed. */
function etcdUser({ username: name, passwordFile }: EtcdCredentials): EtcdUser | undefined {
  if (name === '') return undefined;
  return { name, password: () => readPassword(passwordFile) };
}

async function readPassword(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
  } catch (cause) {
    const problem = `--etcd-password-file=${file} cannot be read: ${describeThrown(cause)}`;
    throw new BigFleetError('etcd_password_unreadable', problem, { cause });
  }
}
