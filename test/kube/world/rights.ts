// ServiceAccounts and roles as the charts render them, so that every end-to-end test runs BigFleet's processes
// with exactly the rights that an installation gives them.

import type { Api } from '../api.ts';
import { Helm, type KubeObject, type Values } from '../charts/helm.ts';

const PATHS: Readonly<Record<string, string>> = {
  ServiceAccount: '/api/v1/namespaces/:namespace/serviceaccounts',
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ClusterRoleBinding: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  Role: '/apis/rbac.authorization.k8s.io/v1/namespaces/:namespace/roles',
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/namespaces/:namespace/rolebindings',
};

export const SYSTEM_NAMESPACE = 'bigfleet-system';

/** Name of the ServiceAccount that the chart makes. */
export async function installRights(api: Api, chart: string, values: Values): Promise<string> {
  await using helm = new Helm();
  const rendered = await helm.objects(`deploy/helm/${chart}`, values);
  let account = '';
  for (const object of rendered) {
    const path = PATHS[object.kind];
    if (path === undefined) continue;
    if (object.kind === 'ServiceAccount') account = object.metadata.name;
    await api.must(api.create(path.replace(':namespace', namespaceOf(object)), object));
  }
  return account;
}

function namespaceOf({ metadata }: KubeObject): string {
  return metadata.namespace ?? SYSTEM_NAMESPACE;
}
