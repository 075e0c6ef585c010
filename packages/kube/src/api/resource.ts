// Which collection of the API server a request is about, and its paths.

export interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
}

export const PODS: Resource = core('pods', 'Pod', true);
export const NODES: Resource = core('nodes', 'Node', false);
export const SECRETS: Resource = core('secrets', 'Secret', true);
export const EVENTS: Resource = core('events', 'Event', true);
export const LEASES: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  isNamespaced: true,
};
export const CUSTOM_RESOURCE_DEFINITIONS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  isNamespaced: false,
};

export const BIGFLEET_GROUP = 'bigfleet.lucy.sh';
export const CAPACITY_REQUESTS: Resource = ours('capacityrequests', 'CapacityRequest', true);
export const UPCOMING_NODES: Resource = ours('upcomingnodes', 'UpcomingNode', false);
export const AVAILABLE_CAPACITIES: Resource = ours(
  'availablecapacities',
  'AvailableCapacity',
  false,
);

function core(plural: string, kind: string, isNamespaced: boolean): Resource {
  return { group: '', version: 'v1', plural, kind, isNamespaced };
}

function ours(plural: string, kind: string, isNamespaced: boolean): Resource {
  return { group: BIGFLEET_GROUP, version: 'v1alpha1', plural, kind, isNamespaced };
}

/** One object; `namespace` is empty for one of the whole cluster. */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

export function apiVersionOf({ group, version }: Resource): string {
  return group === '' ? version : `${group}/${version}`;
}

/** All namespaces when `namespace` is empty. */
export function collectionPath(resource: Resource, namespace = ''): string {
  const { group, version, plural } = resource;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const inside = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}${inside}/${plural}`;
}

export function objectPath(resource: Resource, object: ObjectName, subresource = ''): string {
  const path = `${collectionPath(resource, object.namespace)}/${encodeURIComponent(object.name)}`;
  return subresource === '' ? path : `${path}/${subresource}`;
}
