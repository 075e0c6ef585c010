// An etcd that the platform team runs: endpoints and credentials are theirs, membership too.

import { readFile } from 'node:fs/promises';
import { BigFleetError, describeThrown } from '@bigfleet/base';
import { tlsFromFlags, type TlsMaterial } from '@bigfleet/wire';
import type { EtcdUser } from '../etcd-client/caller.ts';
import { EtcdClient } from '../etcd-client/client.ts';
import { takeDataDir } from '../store/data-dir.ts';
import type { EtcdCredentials, StoreSettings } from './settings.ts';
import { etcdEngine, type OpenStoreOptions, type StoreParts } from './store-parts.ts';

type External = Extract<StoreSettings, { kind: 'external-etcd' }>;

export async function openExternalEtcd(
  options: OpenStoreOptions,
  { endpoints, credentials, prefix, leaseTtlMs }: External,
): Promise<StoreParts> {
  const { runtime, settings } = options;
  const user = etcdUser(credentials);
  await user?.password();
  const client = new EtcdClient({ runtime, endpoints, tls: etcdTls(credentials), user });
  const lock = takeDataDir(settings.dataDir);
  return {
    store: etcdEngine(options, { client, prefix, leaseTtlMs, peerAddress: '' }),
    join: { kind: 'refuse', message: 'membership of an external etcd is not managed here' },
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
