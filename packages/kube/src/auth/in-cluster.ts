// Access from inside a Pod: the service's address from the environment, the mounted ServiceAccount.

import { readFile } from 'node:fs/promises';
import { BigFleetError, describeThrown } from '@bigfleet/base';
import type { ClusterAccess } from './access.ts';
import { TokenFile } from './credential-files.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const MOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

export function isInCluster(env: Environment): boolean {
  return (
    env['KUBERNETES_SERVICE_HOST'] !== undefined && env['KUBERNETES_SERVICE_PORT'] !== undefined
  );
}

export async function inClusterAccess(
  env: Environment,
  mount: string = MOUNT,
): Promise<ClusterAccess> {
  const host = env['KUBERNETES_SERVICE_HOST'] ?? '';
  const [ca, namespace] = await Promise.all([
    readFile(`${mount}/ca.crt`, 'utf8').catch((error: unknown) => {
      throw new BigFleetError('kubeconfig_invalid', `in-cluster: ${describeThrown(error)}`);
    }),
    readFile(`${mount}/namespace`, 'utf8').catch(() => 'default'),
  ]);
  return {
    server: new URL(
      `https://${host.includes(':') ? `[${host}]` : host}:${env['KUBERNETES_SERVICE_PORT']}`,
    ),
    tls: { ca, rejectUnauthorized: true },
    credentials: new TokenFile(`${mount}/token`),
    namespace: namespace.trim(),
  };
}
