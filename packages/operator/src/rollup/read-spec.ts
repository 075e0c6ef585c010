// The spec of a stored CapacityRequest has the shape of this build's CRD, or is refused with the field
// that has not. A cluster may have an older definition, or a newer one, and objects that were stored
// under either: what no schema has checked must not reach code that relies on types, because its throw
// would take every other request of the cluster along. Null counts as absent, as for the API server.
// Fields that this build does not know are left alone. Values are judged elsewhere: whether an operator
// is supported or a text is a quantity is no question of shape.

import { err, ok, type RequestRefusal, type Result } from '@bigfleet/base';
import type { CapacityRequestSpec } from '@bigfleet/kube';
import { type Refusal, shown } from './capacity-request.ts';

type Shape =
  | 'text'
  /** An int-or-string. */
  | 'quantity'
  | 'number'
  | { readonly listOf: Shape }
  | { readonly mapOf: Shape }
  | { readonly fields: Readonly<Record<string, Shape>>; readonly required: readonly string[] };

const REQUIREMENT: Shape = {
  fields: { key: 'text', operator: 'text', values: { listOf: 'text' } },
  required: ['key', 'operator'],
};

const SPEC: Readonly<Record<keyof CapacityRequestSpec, Shape>> = {
  requirements: { listOf: REQUIREMENT },
  resources: { mapOf: 'quantity' },
  priority: 'number',
  interruptionPenalty: 'quantity',
  reclamationPenalty: 'quantity',
  topologySpread: {
    listOf: {
      fields: { topologyKey: 'text', maxSkew: 'number', whenUnsatisfiable: 'text' },
      required: ['topologyKey', 'maxSkew', 'whenUnsatisfiable'],
    },
  },
  coLocation: {
    fields: {
      topologyKey: 'text',
      labelSelector: {
        fields: { matchLabels: { mapOf: 'text' }, matchExpressions: { listOf: REQUIREMENT } },
        required: [],
      },
    },
    required: ['topologyKey'],
  },
};

const REQUIRED: readonly string[] = ['resources', 'priority'];

/** The set of codes is closed: a field without a code of its own takes the nearest one. */
const CODES: Readonly<Record<string, RequestRefusal>> = {
  requirements: 'unsupported_operator',
  coLocation: 'unsupported_operator',
  interruptionPenalty: 'bad_penalty',
  reclamationPenalty: 'bad_penalty',
};

export function readSpec(raw: unknown): Result<CapacityRequestSpec, Refusal> {
  if (!isMapping(raw)) return refused('bad_quantity', 'spec is missing');
  const spec: Record<string, unknown> = {};
  for (const [field, shape] of Object.entries(SPEC)) {
    const read = readField(raw[field] ?? undefined, shape, field);
    const code = CODES[field] ?? 'bad_quantity';
    if (!read.ok) return refused(code, read.error);
    if (read.value !== undefined) spec[field] = read.value;
    else if (REQUIRED.includes(field)) return refused(code, `${field} is missing`);
  }
  return ok(spec as unknown as CapacityRequestSpec);
}

function refused(reason: RequestRefusal, problem: string): Result<never, Refusal> {
  return err({ reason, problem });
}

/** The value without nulls and unknown fields; the error names the first field that does not fit. */
function readField(value: unknown, shape: Shape, path: string): Result<unknown, string> {
  if (value === undefined) return ok(undefined);
  const misfit = (wanted: string): Result<never, string> =>
    err(`${path} ${shown(value)} is no ${wanted}`);
  if (shape === 'text') return typeof value === 'string' ? ok(value) : misfit('text');
  if (shape === 'number') return typeof value === 'number' ? ok(value) : misfit('number');
  if (shape === 'quantity') {
    return typeof value === 'string' || typeof value === 'number' ? ok(value) : misfit('quantity');
  }
  if ('listOf' in shape) {
    return Array.isArray(value) ? readList(value, shape.listOf, path) : misfit('list');
  }
  if (!isMapping(value)) return misfit('object');
  if ('mapOf' in shape) return readMap(value, () => shape.mapOf, path);
  const read = readMap(value, (field) => shape.fields[field], path);
  if (!read.ok) return read;
  const missing = shape.required.find((field) => read.value[field] === undefined);
  return missing === undefined ? read : err(`${path}.${missing} is missing`);
}

function readList(
  values: readonly unknown[],
  shape: Shape,
  path: string,
): Result<unknown[], string> {
  const read: unknown[] = [];
  for (const [at, value] of values.entries()) {
    const one = readField(value ?? null, shape, `${path}[${at}]`);
    if (!one.ok) return one;
    read.push(one.value);
  }
  return ok(read);
}

function readMap(
  map: Readonly<Record<string, unknown>>,
  shapeOf: (field: string) => Shape | undefined,
  path: string,
): Result<Record<string, unknown>, string> {
  const entries: [string, unknown][] = [];
  for (const [field, value] of Object.entries(map)) {
    const shape = shapeOf(field);
    if (shape === undefined || value === null) continue;
    const read = readField(value, shape, `${path}.${field}`);
    if (!read.ok) return read;
    entries.push([field, read.value]);
  }
  return ok(Object.fromEntries(entries));
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
