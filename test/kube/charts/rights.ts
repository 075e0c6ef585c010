// The rights that a chart gives its process, as objects.

import { chartOf } from './catalogue.ts';
import { type Helm, type KubeObject, nested, type Values } from './helm.ts';

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
