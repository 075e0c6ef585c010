// Rendered objects on a server: where each kind lives, and server-side apply, strictly: a field that the server does
// not know is an error, as it is in no other way of applying.

import type { Api, Reply } from '../api.ts';
import type { KubeObject } from './helm.ts';

interface Kind {
  readonly plural: string;
  readonly isCluster?: true;
}

const KINDS: Readonly<Record<string, Kind>> = {
  Certificate: { plural: 'certificates' },
  ClusterRole: { plural: 'clusterroles', isCluster: true },
  ClusterRoleBinding: { plural: 'clusterrolebindings', isCluster: true },
  ConfigMap: { plural: 'configmaps' },
  CustomResourceDefinition: { plural: 'customresourcedefinitions', isCluster: true },
  Deployment: { plural: 'deployments' },
  Ingress: { plural: 'ingresses' },
  NetworkPolicy: { plural: 'networkpolicies' },
  PersistentVolumeClaim: { plural: 'persistentvolumeclaims' },
  PodDisruptionBudget: { plural: 'poddisruptionbudgets' },
  PodMonitor: { plural: 'podmonitors' },
  PrometheusRule: { plural: 'prometheusrules' },
  Role: { plural: 'roles' },
  RoleBinding: { plural: 'rolebindings' },
  Service: { plural: 'services' },
  ServiceAccount: { plural: 'serviceaccounts' },
  StatefulSet: { plural: 'statefulsets' },
};

/** Nothing is stored. */
export function tryApply(api: Api, object: KubeObject): Promise<Reply> {
  const query = 'fieldManager=chart-test&fieldValidation=Strict&force=true&dryRun=All';
  const ask = { body: object, contentType: 'application/apply-patch+yaml' };
  return api.ask('PATCH', `${collectionOf(object)}/${object.metadata.name}?${query}`, ask);
}

/** Its path; `namespace` is of objects that name none. */
export function collectionOf({ apiVersion, kind, metadata }: KubeObject, namespace = ''): string {
  const known = KINDS[kind];
  if (known === undefined) throw new Error(`which path has a ${kind}? Add it to the table`);
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const place = known.isCluster === true ? '' : `/namespaces/${metadata.namespace ?? namespace}`;
  return `${group}${place}/${known.plural}`;
}
