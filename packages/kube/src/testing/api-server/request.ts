// A request's path taken apart: which resource, which object, which subresource, or none of them.

import type { Attributes } from './rbac.ts';
import type { ResourceType, ResourceTypes } from './resources.ts';

export interface ServerRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly body?: string | undefined;
  readonly contentType?: string | undefined;
  readonly accept?: string | undefined;
  readonly bearerToken?: string | undefined;
  /** `Impersonate-User` and its groups. */
  readonly impersonated?: { readonly user: string; readonly groups: readonly string[] } | undefined;
}

export interface ParsedRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Undefined: no resource's path. */
  readonly target: Target | undefined;
  readonly isWatch: boolean;
}

export interface Target {
  readonly type: ResourceType;
  readonly namespace: string;
  /** Empty for a collection. */
  readonly name: string;
  readonly subresource: string;
}

export function parseRequest(request: ServerRequest, types: ResourceTypes): ParsedRequest {
  const cut = request.path.indexOf('?');
  const path = cut < 0 ? request.path : request.path.slice(0, cut);
  const query = new URLSearchParams(cut < 0 ? '' : request.path.slice(cut + 1));
  const target = targetOf(path, types);
  const isWatch = request.method === 'GET' && isTrue(query.get('watch')) && target !== undefined;
  return { path, query, target, isWatch };
}

/** As the real server reads a boolean: everything is true that is there and not plainly false. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

function targetOf(path: string, types: ResourceTypes): Target | undefined {
  const parts = path.split('/').filter(Boolean).map(decoded);
  const isCore = parts[0] === 'api';
  if (!isCore && parts[0] !== 'apis') return undefined;
  const group = isCore ? '' : (parts[1] ?? '');
  const version = parts[isCore ? 1 : 2] ?? '';
  const rest = parts.slice(isCore ? 2 : 3);
  // `namespaces/x/pods` is inside a namespace; `namespaces/x` and `namespaces/x/status` are the object.
  const isInside = rest[0] === 'namespaces' && rest.length >= 3 && !isNamespacePart(group, rest);
  const namespace = isInside ? (rest[1] ?? '') : '';
  const [plural = '', name = '', subresource = '', ...more] = isInside ? rest.slice(2) : rest;
  const type = types.find(group, version, plural);
  if (type === undefined || more.length > 0) return undefined;
  if (!type.isNamespaced && namespace !== '') return undefined;
  // A namespaced object has no path outside of its namespace.
  if (type.isNamespaced && namespace === '' && name !== '') return undefined;
  if (subresource !== '' && !type.subresources.includes(subresource)) return undefined;
  return { type, namespace, name, subresource };
}

function isNamespacePart(group: string, rest: readonly string[]): boolean {
  return group === '' && rest.length === 3 && (rest[2] === 'status' || rest[2] === 'finalize');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function attributesOf(
  method: string,
  { path, query, target, isWatch }: ParsedRequest,
): Attributes {
  if (target === undefined) {
    const none = { group: '', resource: '', subresource: '', namespace: '', name: '' };
    return { verb: method.toLowerCase(), ...none, path };
  }
  const { type, namespace, name, subresource } = target;
  // A list of one name counts as a request for that object, so that resourceNames can grant it.
  const selected =
    /(?:^|,)metadata\.name==?([^,]+)/.exec(query.get('fieldSelector') ?? '')?.[1] ?? '';
  return {
    verb: verbOf(method, name !== '', isWatch),
    group: type.group,
    resource: type.plural,
    subresource,
    namespace: type.plural === 'namespaces' && type.group === '' ? name : namespace,
    name: name === '' && method === 'GET' ? selected : name,
    path,
  };
}

function verbOf(method: string, hasName: boolean, isWatch: boolean): string {
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (isWatch) return 'watch';
      return hasName ? 'get' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return hasName ? 'delete' : 'deletecollection';
    default:
      return method.toLowerCase();
  }
}
