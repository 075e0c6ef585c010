// Which resources the server knows: a table for the built-in ones, and one entry per CustomResourceDefinition
// version. What differs between kinds (generation, conditional updates, what DELETE answers) is data here.

import type { CompiledSchema } from './schema.ts';

export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly isNamespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** A `status` subresource of its own: the main resource ignores status, and the other way round. */
  readonly hasStatus: boolean;
  readonly hasGeneration: boolean;
  /** A PUT without a resourceVersion overwrites. */
  readonly allowsUnconditionalUpdate: boolean;
  readonly allowsCreateOnUpdate: boolean;
  /** DELETE answers the object and not a Status. */
  readonly returnsDeleted: boolean;
  readonly subresources: readonly string[];
  readonly custom?: CustomType | undefined;
}

export interface CustomType {
  readonly schema: CompiledSchema;
  /** Paths such as `status.phase`. */
  readonly selectableFields: readonly string[];
  readonly printerColumns: readonly PrinterColumn[];
  /** Name of the CustomResourceDefinition. */
  readonly definition: string;
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  readonly jsonPath: string;
}

type Trait = 'cluster' | 'status' | 'generation' | 'conditional' | 'upsert' | 'returned' | 'all';

interface Row {
  readonly group: string;
  readonly version?: string;
  readonly plural: string;
  readonly kind: string;
  readonly shortNames?: readonly string[];
  readonly traits?: readonly Trait[];
  readonly subresources?: readonly string[];
}

const WORKLOAD = ['status', 'generation', 'all'] as const;

const ROWS: readonly Row[] = [
  { group: '', plural: 'bindings', kind: 'Binding' },
  { group: '', plural: 'configmaps', kind: 'ConfigMap', shortNames: ['cm'] },
  { group: '', plural: 'endpoints', kind: 'Endpoints', shortNames: ['ep'], traits: ['upsert'] },
  { group: '', plural: 'events', kind: 'Event', shortNames: ['ev'], traits: ['upsert'] },
  { group: '', plural: 'limitranges', kind: 'LimitRange', shortNames: ['limits'] },
  {
    group: '',
    plural: 'namespaces',
    kind: 'Namespace',
    shortNames: ['ns'],
    traits: ['cluster', 'status'],
    subresources: ['finalize'],
  },
  { group: '', plural: 'nodes', kind: 'Node', shortNames: ['no'], traits: ['cluster', 'status'] },
  {
    group: '',
    plural: 'persistentvolumeclaims',
    kind: 'PersistentVolumeClaim',
    shortNames: ['pvc'],
    traits: ['status', 'returned'],
  },
  {
    group: '',
    plural: 'persistentvolumes',
    kind: 'PersistentVolume',
    shortNames: ['pv'],
    traits: ['cluster', 'status', 'returned'],
  },
  {
    group: '',
    plural: 'pods',
    kind: 'Pod',
    shortNames: ['po'],
    traits: ['status', 'returned', 'all'],
    subresources: ['binding', 'eviction'],
  },
  {
    group: '',
    plural: 'replicationcontrollers',
    kind: 'ReplicationController',
    shortNames: ['rc'],
    traits: WORKLOAD,
    subresources: ['scale'],
  },
  {
    group: '',
    plural: 'resourcequotas',
    kind: 'ResourceQuota',
    shortNames: ['quota'],
    traits: ['status'],
  },
  { group: '', plural: 'secrets', kind: 'Secret' },
  {
    group: '',
    plural: 'serviceaccounts',
    kind: 'ServiceAccount',
    shortNames: ['sa'],
    traits: ['returned'],
  },
  {
    group: '',
    plural: 'services',
    kind: 'Service',
    shortNames: ['svc'],
    traits: ['status', 'returned', 'all'],
  },
  {
    group: 'apiextensions.k8s.io',
    plural: 'customresourcedefinitions',
    kind: 'CustomResourceDefinition',
    shortNames: ['crd', 'crds'],
    traits: ['cluster', 'status', 'generation', 'conditional'],
  },
  { group: 'apps', plural: 'controllerrevisions', kind: 'ControllerRevision' },
  { group: 'apps', plural: 'daemonsets', kind: 'DaemonSet', shortNames: ['ds'], traits: WORKLOAD },
  {
    group: 'apps',
    plural: 'deployments',
    kind: 'Deployment',
    shortNames: ['deploy'],
    traits: WORKLOAD,
    subresources: ['scale'],
  },
  {
    group: 'apps',
    plural: 'replicasets',
    kind: 'ReplicaSet',
    shortNames: ['rs'],
    traits: WORKLOAD,
    subresources: ['scale'],
  },
  {
    group: 'apps',
    plural: 'statefulsets',
    kind: 'StatefulSet',
    shortNames: ['sts'],
    traits: WORKLOAD,
    subresources: ['scale'],
  },
  {
    group: 'authorization.k8s.io',
    plural: 'selfsubjectaccessreviews',
    kind: 'SelfSubjectAccessReview',
    traits: ['cluster'],
  },
  { group: 'batch', plural: 'cronjobs', kind: 'CronJob', shortNames: ['cj'], traits: WORKLOAD },
  { group: 'batch', plural: 'jobs', kind: 'Job', traits: WORKLOAD },
  {
    group: 'coordination.k8s.io',
    plural: 'leases',
    kind: 'Lease',
    traits: ['conditional', 'upsert'],
  },
  {
    group: 'discovery.k8s.io',
    plural: 'endpointslices',
    kind: 'EndpointSlice',
    traits: ['generation'],
  },
  {
    group: 'networking.k8s.io',
    plural: 'ingresses',
    kind: 'Ingress',
    shortNames: ['ing'],
    traits: ['status', 'generation'],
  },
  {
    group: 'networking.k8s.io',
    plural: 'networkpolicies',
    kind: 'NetworkPolicy',
    shortNames: ['netpol'],
    traits: ['generation'],
  },
  { group: 'node.k8s.io', plural: 'runtimeclasses', kind: 'RuntimeClass', traits: ['cluster'] },
  {
    group: 'policy',
    plural: 'poddisruptionbudgets',
    kind: 'PodDisruptionBudget',
    shortNames: ['pdb'],
    traits: ['status', 'generation', 'conditional'],
  },
  {
    group: 'rbac.authorization.k8s.io',
    plural: 'clusterrolebindings',
    kind: 'ClusterRoleBinding',
    traits: ['cluster', 'upsert'],
  },
  {
    group: 'rbac.authorization.k8s.io',
    plural: 'clusterroles',
    kind: 'ClusterRole',
    traits: ['cluster', 'upsert'],
  },
  {
    group: 'rbac.authorization.k8s.io',
    plural: 'rolebindings',
    kind: 'RoleBinding',
    traits: ['upsert'],
  },
  { group: 'rbac.authorization.k8s.io', plural: 'roles', kind: 'Role', traits: ['upsert'] },
  {
    group: 'scheduling.k8s.io',
    plural: 'priorityclasses',
    kind: 'PriorityClass',
    shortNames: ['pc'],
    traits: ['cluster', 'generation'],
  },
  { group: 'storage.k8s.io', plural: 'csinodes', kind: 'CSINode', traits: ['cluster'] },
  {
    group: 'storage.k8s.io',
    plural: 'storageclasses',
    kind: 'StorageClass',
    shortNames: ['sc'],
    traits: ['cluster'],
  },
];

export class ResourceTypes {
  /** By `group/plural`: one stored collection each, whatever the versions. */
  readonly #byPlural = new Map<string, ResourceType[]>();

  constructor() {
    for (const row of ROWS) this.add(builtIn(row));
  }

  add(type: ResourceType): void {
    const key = collectionKey(type);
    const others = (this.#byPlural.get(key) ?? []).filter((one) => one.version !== type.version);
    this.#byPlural.set(key, [...others, type]);
  }

  remove(group: string, plural: string): void {
    this.#byPlural.delete(collectionKey({ group, plural }));
  }

  find(group: string, version: string, plural: string): ResourceType | undefined {
    return this.#byPlural
      .get(collectionKey({ group, plural }))
      ?.find((one) => one.version === version);
  }

  /** Any version of a collection. */
  collection(key: string): ResourceType | undefined {
    return this.#byPlural.get(key)?.[0];
  }

  byKind(apiVersion: string, kind: string): ResourceType | undefined {
    for (const type of this.all()) {
      if (type.kind === kind && apiVersionOf(type) === apiVersion) return type;
    }
    return undefined;
  }

  *all(): IterableIterator<ResourceType> {
    for (const types of this.#byPlural.values()) yield* types;
  }
}

export function collectionKey({ group, plural }: Pick<ResourceType, 'group' | 'plural'>): string {
  return `${group}/${plural}`;
}

export function apiVersionOf({ group, version }: Pick<ResourceType, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

function builtIn(row: Row): ResourceType {
  const has = (trait: Trait): boolean => row.traits?.includes(trait) ?? false;
  return {
    group: row.group,
    version: row.version ?? 'v1',
    plural: row.plural,
    singular: row.kind.toLowerCase(),
    kind: row.kind,
    listKind: `${row.kind}List`,
    isNamespaced: !has('cluster'),
    shortNames: row.shortNames ?? [],
    categories: has('all') ? ['all'] : [],
    hasStatus: has('status'),
    hasGeneration: has('generation'),
    allowsUnconditionalUpdate: !has('conditional'),
    allowsCreateOnUpdate: has('upsert'),
    returnsDeleted: has('returned'),
    subresources: [...(has('status') ? ['status'] : []), ...(row.subresources ?? [])],
  };
}
