// The four patches: JSON merge (RFC 7386), JSON patch (RFC 6902), strategic merge as far as kubectl needs it,
// and server-side apply as create-or-merge. All return a new value and leave their inputs alone.

import { isObject } from '../../api/answer.ts';
import { asList, asObj, clone, isEqual, type Obj } from './json.ts';
import { badRequest, Refusal } from './status.ts';

/** A merge patch of a request: only an object can be one. */
export function objectPatch(target: Obj, patch: unknown): unknown {
  if (!isObject(patch)) {
    throw badRequest('error decoding patch: json: cannot unmarshal a value that is no object');
  }
  return mergePatch(target, patch);
}

export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return clone(patch);
  const result: Obj = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

export function jsonPatch(target: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) {
    throw badRequest(
      'error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch',
    );
  }
  let result = clone(target);
  for (const operation of operations as unknown[])
    result = applyOperation(result, asObj(operation));
  return result;
}

function applyOperation(target: unknown, operation: Obj): unknown {
  const { op, path, value, from } = operation;
  if (typeof path !== 'string') throw badRequest('patch operation without a path');
  switch (op) {
    case 'add':
      return insertAt(target, path, clone(value));
    case 'remove':
      return removeAt(target, path).rest;
    case 'replace':
      return replaceAt(target, path, clone(value));
    case 'move': {
      const { rest, removed } = removeAt(target, String(from));
      return insertAt(rest, path, removed);
    }
    case 'copy':
      return insertAt(target, path, clone(valueAt(target, String(from))));
    case 'test':
      if (!isEqual(valueAt(target, path), value)) {
        throw rejected();
      }
      return target;
    default:
      throw rejected();
  }
}

function keysOf(path: string): string[] {
  if (path === '') return [];
  return path
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The real server keeps the reason to itself. */
function rejected(): Refusal {
  const message = 'the server rejected our request due to an error in our request';
  return new Refusal(422, 'Invalid', message, {});
}

/** Of an object, a key that is not there is added: the real server's library does not mind. */
function replaceAt(target: unknown, path: string, value: unknown): unknown {
  if (path === '') return value;
  const { parent } = parentOf(target, path);
  const rest = Array.isArray(parent) ? removeAt(target, path).rest : target;
  return insertAt(rest, path, value);
}

function valueAt(target: unknown, path: string): unknown {
  let here = target;
  for (const key of keysOf(path)) {
    if (Array.isArray(here)) {
      const index = Number(key);
      if (!(index >= 0 && index < here.length)) throw rejected();
      here = here[index] as unknown;
    } else if (isObject(here) && Object.hasOwn(here, key)) here = here[key];
    else throw rejected();
  }
  return here;
}

function parentOf(target: unknown, path: string): { parent: unknown; key: string } {
  const cut = path.lastIndexOf('/');
  return { parent: valueAt(target, path.slice(0, cut)), key: keysOf(path).at(-1) ?? '' };
}

function insertAt(target: unknown, path: string, value: unknown): unknown {
  if (path === '') return value;
  const { parent, key } = parentOf(target, path);
  if (Array.isArray(parent)) {
    const index = key === '-' ? parent.length : Number(key);
    if (!(index >= 0 && index <= parent.length)) throw rejected();
    parent.splice(index, 0, value);
  } else if (isObject(parent)) (parent as Obj)[key] = value;
  else throw rejected();
  return target;
}

function removeAt(target: unknown, path: string): { rest: unknown; removed: unknown } {
  const removed = valueAt(target, path);
  const { parent, key } = parentOf(target, path);
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete (parent as Obj)[key];
  return { rest: target, removed };
}

/** The keys by which lists of the built-in kinds merge; a list that is not named here is replaced. */
const MERGE_KEYS: Readonly<Record<string, readonly string[]>> = {
  containers: ['name'],
  initContainers: ['name'],
  ephemeralContainers: ['name'],
  env: ['name'],
  volumes: ['name'],
  volumeMounts: ['mountPath'],
  conditions: ['type'],
  ownerReferences: ['uid'],
  imagePullSecrets: ['name'],
  secrets: ['name'],
  addresses: ['type'],
  hostAliases: ['ip'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
  podIPs: ['ip'],
};
/** `ports` of a container merge by containerPort, those of a Service by port. */
const PORT_KEYS = ['containerPort', 'port'];
/** Lists of plain values that merge as sets. */
const SETS = new Set(['finalizers']);

export function strategicPatch(target: unknown, patch: unknown, field = ''): unknown {
  if (Array.isArray(patch)) return mergeLists(asList(target), patch, { field, isApply: false });
  if (!isObject(patch)) return clone(patch);
  if (patch['$patch'] === 'replace') {
    const { $patch: _directive, ...rest } = patch;
    return clone(rest);
  }
  const result: Obj = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (key === '$retainKeys' || key.startsWith('$setElementOrder/')) continue;
    if (key.startsWith('$deleteFromPrimitiveList/')) {
      const name = key.slice('$deleteFromPrimitiveList/'.length);
      const gone = asList(value);
      result[name] = asList(result[name]).filter((one) => !gone.includes(one));
    } else if (value === null) delete result[key];
    else if (isObject(value) && value['$patch'] === 'delete') delete result[key];
    else result[key] = strategicPatch(result[key], value, key);
  }
  const retained: unknown = patch['$retainKeys'];
  if (Array.isArray(retained)) {
    for (const key of Object.keys(result)) if (!retained.includes(key)) delete result[key];
  }
  return result;
}

interface ListMerge {
  readonly field: string;
  readonly isApply: boolean;
}

function mergeLists(
  target: readonly unknown[],
  patch: readonly unknown[],
  how: ListMerge,
): unknown {
  if (SETS.has(how.field)) return [...new Set([...target, ...patch])];
  const keys = mergeKeysOf(how.field, patch);
  if (keys === undefined || patch.some((one) => asObj(one)['$patch'] === 'replace')) {
    return patch.filter((one) => asObj(one)['$patch'] !== 'replace').map(clone);
  }
  const same = (a: unknown, b: unknown): boolean =>
    keys.every((key) => asObj(a)[key] === asObj(b)[key]);
  let result = [...target];
  for (const item of patch) {
    const index = result.findIndex((one) => same(one, item));
    if (asObj(item)['$patch'] === 'delete') result = result.filter((one) => !same(one, item));
    else if (index < 0) result.push(strategicPatch({}, item));
    else
      result[index] = how.isApply
        ? applied(result[index], item)
        : strategicPatch(result[index], item);
  }
  return result;
}

function mergeKeysOf(field: string, patch: readonly unknown[]): readonly string[] | undefined {
  if (field !== 'ports') return MERGE_KEYS[field];
  const key = PORT_KEYS.find((one) => patch.every((item) => asObj(item)[one] !== undefined));
  return key === undefined ? undefined : [key];
}

/**
 * What server-side apply leaves: the applied fields laid over the object. Without field ownership a
 * field that an earlier apply had and this one has not stays.
 */
export function applied(target: unknown, configuration: unknown, field = ''): unknown {
  if (Array.isArray(configuration)) {
    return mergeLists(asList(target), configuration, { field, isApply: true });
  }
  if (!isObject(configuration)) return clone(configuration);
  const result: Obj = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(configuration))
    result[key] = applied(result[key], value, key);
  return result;
}

/** Apply for custom resources: their lists are atomic unless the schema says otherwise. */
export function appliedAtomic(target: unknown, configuration: unknown): unknown {
  if (!isObject(configuration)) return clone(configuration);
  const result: Obj = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(configuration))
    result[key] = appliedAtomic(result[key], value);
  return result;
}
