// The rights that a chart gives its process, as objects, and applied to a control plane: the suite runs each
// process with exactly these (kubernetes §7.2, behaviour 13).

import type { ControlPlane } from '../control-plane.ts';
import { applyObject } from './apply.ts';
import { chartOf } from './catalogue.ts';
import { type Helm, type KubeObject, nested, type Values } from './helm.ts';

export const NAMESPACE = 'bigfleet-system';

const KINDS: ReadonlySet<string> = new Set([
  'ServiceAccount',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
]);

/** `values` are dotted, on top of those that the chart requires. */
export async function chartRights(
  helm: Helm,
  chart: string,
  values: Values = {},
): Promise<KubeObject[]> {
  const { folder, required } = chartOf(chart);
  const objects = await helm.objects(folder, nested({ ...required, ...values }));
  return objects.filter(({ kind }) => KINDS.has(kind));
}

/** Path of a kubeconfig of the chart's ServiceAccount, with these rights and no others. */
export async function grantChartRights(
  plane: ControlPlane,
  rights: readonly KubeObject[],
): Promise<string> {
  const namespaces = '/api/v1/namespaces';
  const { status, text } = await plane.admin.create(namespaces, { metadata: { name: NAMESPACE } });
  if (status !== 201 && status !== 409) throw new Error(text);
  for (const object of rights) {
    await plane.admin.must(applyObject(plane.admin, object, { isDryRun: false }));
  }
  const account = rights.find(({ kind }) => kind === 'ServiceAccount');
  if (account === undefined) throw new Error('the chart creates no ServiceAccount');
  const { name } = account.metadata;
  return plane.serviceAccountKubeconfig({ namespace: NAMESPACE, name });
}
