// What kubectl asks before it does anything: groups, versions, resources, and an OpenAPI document that is
// just long enough to say that the server validates fields itself.

import { isObject } from '../../api/answer.ts';
import type { Obj } from './json.ts';
import { apiVersionOf, type ResourceType, type ResourceTypes } from './resources.ts';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const CREATE_ONLY = new Set(['bindings', 'selfsubjectaccessreviews']);

/** Of the kube-apiserver whose answers this server gives (test/kube/behaviour). The rest is no build of it. */
const VERSION: Obj = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.3',
  gitCommit: '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: '',
};

/** The document at a discovery path, or undefined when the path is none. */
export function discoveryOf(path: string, types: ResourceTypes): Obj | undefined {
  const parts = path.split('/').filter(Boolean);
  const [root, group = '', version = ''] = parts;
  if (path === '/version') return VERSION;
  if (root === 'openapi') return openApi(parts.slice(1), types);
  if (root === 'api') {
    if (parts.length === 1) {
      return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
    }
    return parts.length === 2 && group === 'v1' ? resourceList('', 'v1', types) : undefined;
  }
  if (root !== 'apis') return undefined;
  switch (parts.length) {
    case 1:
      return { kind: 'APIGroupList', apiVersion: 'v1', groups: groupsOf(types) };
    case 2: {
      const found = groupsOf(types).find((one) => one['name'] === group);
      return found === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...found };
    }
    case 3:
      return resourceList(group, version, types);
    default:
      return undefined;
  }
}

function groupsOf(types: ResourceTypes): Obj[] {
  const versions = new Map<string, Set<string>>();
  for (const { group, version } of types.all()) {
    if (group === '') continue;
    const found = versions.get(group);
    if (found === undefined) versions.set(group, new Set([version]));
    else found.add(version);
  }
  return [...versions].map(([name, all]): Obj => {
    const list = [...all].map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions: list, preferredVersion: list[0] };
  });
}

function resourceList(group: string, version: string, types: ResourceTypes): Obj | undefined {
  const resources: Obj[] = [];
  for (const type of types.all()) {
    if (type.group !== group || type.version !== version) continue;
    resources.push(resourceOf(type), ...type.subresources.map((name) => subresourceOf(type, name)));
  }
  if (resources.length === 0) return undefined;
  const groupVersion = apiVersionOf({ group, version });
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources };
}

function resourceOf(type: ResourceType): Obj {
  return {
    name: type.plural,
    singularName: type.singular,
    namespaced: type.isNamespaced,
    kind: type.kind,
    verbs: CREATE_ONLY.has(type.plural) ? ['create'] : VERBS,
    ...(type.shortNames.length === 0 ? {} : { shortNames: type.shortNames }),
    ...(type.categories.length === 0 ? {} : { categories: type.categories }),
  };
}

const SUBRESOURCE_KINDS: Readonly<Record<string, Obj>> = {
  binding: { kind: 'Binding', verbs: ['create'] },
  eviction: { group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] },
  finalize: { kind: 'Namespace', verbs: ['update'] },
  scale: {
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    verbs: ['get', 'patch', 'update'],
  },
};

function subresourceOf(type: ResourceType, name: string): Obj {
  return {
    name: `${type.plural}/${name}`,
    singularName: '',
    namespaced: type.isNamespaced,
    ...(SUBRESOURCE_KINDS[name] ?? { kind: type.kind, verbs: ['get', 'patch', 'update'] }),
  };
}

/** /openapi/v3: an index, and per group and version the operations with their parameters. */
function openApi(parts: readonly string[], types: ResourceTypes): Obj | undefined {
  const [version, ...rest] = parts;
  if (version !== 'v3') return undefined;
  const roots = new Map<string, ResourceType[]>();
  for (const type of types.all()) {
    const root = rootOf(type);
    const found = roots.get(root);
    if (found === undefined) roots.set(root, [type]);
    else found.push(type);
  }
  if (rest.length === 0) {
    const paths = [...roots.keys()].map((root) => [
      root,
      { serverRelativeURL: `/openapi/v3/${root}?hash=0` },
    ]);
    return { paths: Object.fromEntries(paths) as Obj };
  }
  const found = roots.get(rest.join('/'));
  if (found === undefined) return undefined;
  const paths: Obj = {};
  const schemas: Obj = {};
  for (const type of found) {
    const inside = type.isNamespaced ? '/namespaces/{namespace}' : '';
    paths[`/${rootOf(type)}${inside}/${type.plural}/{name}`] = {
      patch: operation(type, 'patch'),
      put: operation(type, 'put'),
    };
    paths[`/${rootOf(type)}${inside}/${type.plural}`] = { post: operation(type, 'post') };
    schemas[schemaName(type)] = {
      type: 'object',
      ...documented(type),
      'x-kubernetes-group-version-kind': [
        { group: type.group, version: type.version, kind: type.kind },
      ],
    };
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: String(VERSION['gitVersion']) },
    paths,
    components: { schemas },
  };
}

function rootOf({ group, version }: ResourceType): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

function schemaName({ group, version, kind }: ResourceType): string {
  return `${group.split('.').toReversed().join('.') || 'io.k8s.api.core'}.${version}.${kind}`;
}

/** The schema of a custom resource; a built-in kind takes any field. */
function documented(type: ResourceType): Obj {
  const root = type.custom?.schema.root;
  return isObject(root) ? root : { 'x-kubernetes-preserve-unknown-fields': true };
}

function operation(type: ResourceType, method: string): Obj {
  const parameter = (name: string): Obj => ({ name, in: 'query', schema: { type: 'string' } });
  return {
    operationId: `${method}${type.kind}`,
    parameters: ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map(parameter),
    'x-kubernetes-action': method,
    'x-kubernetes-group-version-kind': {
      group: type.group,
      version: type.version,
      kind: type.kind,
    },
    responses: { '200': { description: 'OK' } },
  };
}
