// ServiceAccounts and roles as the charts render them, so that every end-to-end test runs BigFleet's processes
// with exactly the rights that an installation gives them.

import type { Api } from '../api.ts';
import { collectionOf } from '../charts/apply.ts';
import { Helm, type Values } from '../charts/helm.ts';

const KINDS = ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'];

export const SYSTEM_NAMESPACE = 'bigfleet-system';

/** Name of the ServiceAccount that the chart makes. */
export async function installRights(api: Api, chart: string, values: Values): Promise<string> {
  await using helm = new Helm();
  const rendered = await helm.objects(`deploy/helm/${chart}`, values);
  let account = '';
  for (const object of rendered) {
    if (!KINDS.includes(object.kind)) continue;
    if (object.kind === 'ServiceAccount') account = object.metadata.name;
    await api.must(api.create(collectionOf(object, SYSTEM_NAMESPACE), object));
  }
  return account;
}
