// Who asks, and whether they may: bearer tokens name users, and roles and bindings stored in the cluster
// decide, with the real refusal's words. Off by default: then everybody may do everything.

import { asList, asText, at, type Obj, textAt } from './json.ts';
import type { Store } from './store.ts';
import { Refusal } from './status.ts';

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

export interface Attributes {
  readonly verb: string;
  readonly group: string;
  /** Empty for paths that are no resources: `/version`. */
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
}

export const ANONYMOUS: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
const MASTERS = 'system:masters';
const ROLES = 'rbac.authorization.k8s.io/';
/** What system:discovery and system:public-info-viewer grant to everybody. */
const PUBLIC_PATHS = /^\/(?:healthz|readyz|livez|version|api|apis|openapi)(?:\/|$)/;

export function isAllowed(store: Store, user: User, attributes: Attributes): boolean {
  if (user.groups.includes(MASTERS)) return true;
  if (
    attributes.resource === '' &&
    attributes.verb === 'get' &&
    PUBLIC_PATHS.test(attributes.path)
  ) {
    return true;
  }
  // system:basic-user: everybody may ask what they may do.
  if (attributes.resource === 'selfsubjectaccessreviews') return true;
  for (const { object } of store.values(`${ROLES}clusterrolebindings`)) {
    if (grants(store, { binding: object, namespace: '', user, attributes })) return true;
  }
  if (attributes.namespace === '') return false;
  for (const [, { object }] of store.range(`${ROLES}rolebindings`, `${attributes.namespace}/`)) {
    if (grants(store, { binding: object, namespace: attributes.namespace, user, attributes }))
      return true;
  }
  return false;
}

function grants(
  store: Store,
  {
    binding,
    namespace,
    user,
    attributes,
  }: {
    readonly binding: Obj;
    readonly namespace: string;
    readonly user: User;
    readonly attributes: Attributes;
  },
): boolean {
  if (!asList(binding['subjects']).some((subject) => isSubject(subject, user, namespace)))
    return false;
  const roleName = textAt(binding, 'roleRef', 'name');
  const role =
    textAt(binding, 'roleRef', 'kind') === 'ClusterRole'
      ? store.get(`${ROLES}clusterroles`, roleName)
      : store.get(`${ROLES}roles`, `${namespace}/${roleName}`);
  return asList(role?.object['rules']).some((rule) => covers(rule, attributes));
}

function isSubject(subject: unknown, user: User, namespace: string): boolean {
  const name = textAt(subject, 'name');
  switch (at(subject, 'kind')) {
    case 'User':
      return name === user.name;
    case 'Group':
      return user.groups.includes(name);
    case 'ServiceAccount':
      return (
        user.name === `system:serviceaccount:${textAt(subject, 'namespace') || namespace}:${name}`
      );
    default:
      return false;
  }
}

function covers(rule: unknown, attributes: Attributes): boolean {
  const has = (field: string, value: string): boolean => {
    const values = asList(at(rule, field));
    return values.includes('*') || values.includes(value);
  };
  if (!has('verbs', attributes.verb)) return false;
  if (attributes.resource === '') {
    return asList(at(rule, 'nonResourceURLs')).some((one) => {
      const url = asText(one);
      return (
        url === attributes.path ||
        (url.endsWith('*') && attributes.path.startsWith(url.slice(0, -1)))
      );
    });
  }
  const { resource, subresource } = attributes;
  const wanted = subresource === '' ? resource : `${resource}/${subresource}`;
  const isResource =
    has('resources', wanted) ||
    (subresource !== '' && asList(at(rule, 'resources')).includes(`*/${subresource}`));
  const names = asList(at(rule, 'resourceNames'));
  return (
    has('apiGroups', attributes.group) &&
    isResource &&
    (names.length === 0 || names.includes(attributes.name))
  );
}

export function forbiddenFor(user: User, attributes: Attributes): Refusal {
  const { verb, group, resource, subresource, namespace, name, path } = attributes;
  if (resource === '') {
    const message = `forbidden: User "${user.name}" cannot ${verb} path "${path}"`;
    return new Refusal(403, 'Forbidden', message, {});
  }
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const qualified = group === '' ? resource : `${resource}.${group}`;
  const subject = name === '' ? qualified : `${qualified} "${name}"`;
  const message = `${subject} is forbidden: User "${user.name}" cannot ${verb} resource "${whole}" in API group "${group}" ${where}`;
  return new Refusal(403, 'Forbidden', message, {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind: resource,
  });
}

export function unauthorized(): Refusal {
  return new Refusal(401, 'Unauthorized', 'Unauthorized');
}
