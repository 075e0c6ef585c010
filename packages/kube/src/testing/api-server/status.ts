// Refusals as kube-apiserver words them: a Status with reason, message, details and code. Inside the
// server a refusal is thrown as `Refusal` and becomes an answer at one place, the request handler.

import type { Obj } from './json.ts';
import type { ResourceType } from './resources.ts';

export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string | undefined;
}

export class Refusal extends Error {
  readonly status: Obj;
  readonly code: number;

  constructor(code: number, reason: string, message: string, details?: Obj, metadata: Obj = {}) {
    super(message);
    this.code = code;
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata,
      status: 'Failure',
      message,
      ...(reason === '' ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

export function success(code: number, details?: Obj): Obj {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    ...(details === undefined ? {} : { details }),
    ...(code === 200 ? {} : { code }),
  };
}

/** `plural` or `plural.group`, as messages name a resource. */
export function qualified(type: Pick<ResourceType, 'group' | 'plural'>): string {
  return type.group === '' ? type.plural : `${type.plural}.${type.group}`;
}

export function detailsOf(type: ResourceType, name: string, more: Obj = {}): Obj {
  return {
    ...(name === '' ? {} : { name }),
    ...(type.group === '' ? {} : { group: type.group }),
    kind: type.plural,
    ...more,
  };
}

export function notFound(type: ResourceType, name: string): Refusal {
  const message = `${qualified(type)} "${name}" not found`;
  return new Refusal(404, 'NotFound', message, detailsOf(type, name));
}

export function alreadyExists(type: ResourceType, name: string): Refusal {
  const message = `${qualified(type)} "${name}" already exists`;
  return new Refusal(409, 'AlreadyExists', message, detailsOf(type, name));
}

export function conflict(type: ResourceType, name: string, problem: string): Refusal {
  const message = `Operation cannot be fulfilled on ${qualified(type)} "${name}": ${problem}`;
  return new Refusal(409, 'Conflict', message, detailsOf(type, name));
}

export const MODIFIED =
  'the object has been modified; please apply your changes to the latest version and try again';

export function badRequest(message: string): Refusal {
  return new Refusal(400, 'BadRequest', message);
}

export function forbidden(type: ResourceType, name: string, problem: string): Refusal {
  const subject = name === '' ? qualified(type) : `${qualified(type)} "${name}"`;
  const message = `${subject} is forbidden: ${problem}`;
  return new Refusal(403, 'Forbidden', message, detailsOf(type, name));
}

/** Options of a request: query parameters, or the body of a DELETE. */
export function invalidOptions(kind: string, causes: readonly Cause[]): Refusal {
  return invalid({ group: 'meta.k8s.io', kind }, '', causes);
}

/** A path inside a known group and version that leads to nothing. */
export function noSuchResource(): Refusal {
  const message = 'the server could not find the requested resource';
  return new Refusal(404, 'NotFound', message, {});
}

export function notAcceptable(): Refusal {
  const message = `only the following media types are accepted: ${MEDIA_TYPES.join(', ')}`;
  return new Refusal(406, 'NotAcceptable', message);
}

/** Of objects, in both directions. */
export const MEDIA_TYPES: readonly string[] = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
];

export function methodNotAllowed(): Refusal {
  const message = 'the server does not allow this method on the requested resource';
  return new Refusal(405, 'MethodNotAllowed', message, {});
}

export function unsupportedMediaType(accepted: readonly string[]): Refusal {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return new Refusal(415, 'UnsupportedMediaType', message);
}

export function expired(message: string, metadata: Obj = {}): Refusal {
  return new Refusal(410, 'Expired', message, undefined, metadata);
}

export function invalid(
  type: Pick<ResourceType, 'group' | 'kind'>,
  name: string,
  causes: readonly Cause[],
): Refusal {
  const all = causes.map(({ field, message }) => `${field ?? '<nil>'}: ${message}`);
  // The text says once what the causes list as often as it was found.
  const lines = Array.from(new Set(all));
  const problems = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  const kind = type.group === '' ? type.kind : `${type.kind}.${type.group}`;
  return new Refusal(422, 'Invalid', `${kind} "${name}" is invalid: ${problems}`, {
    ...(name === '' ? {} : { name }),
    ...(type.group === '' ? {} : { group: type.group }),
    kind: type.kind,
    causes: causes.map(({ reason, message, field }) => ({
      reason,
      message,
      field: field ?? '<nil>',
    })),
  });
}

/** One field's problem, as field.Error prints it. */
export const fieldError: {
  required(field: string, detail?: string): Cause;
  invalid(field: string, value: unknown, detail: string): Cause;
  unsupported(field: string, value: unknown, supported: readonly unknown[]): Cause;
  forbidden(field: string, detail: string): Cause;
  typeInvalid(field: string, value: unknown, detail: string): Cause;
  tooMany(field: string, count: number, most: number): Cause;
  tooLong(field: string, most: number): Cause;
} = {
  required: (field, detail) => ({
    reason: 'FieldValueRequired',
    message: detail === undefined ? 'Required value' : `Required value: ${detail}`,
    field,
  }),
  invalid: (field, value, detail) => ({
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${shown(value)}: ${detail}`,
    field,
  }),
  unsupported: (field, value, supported) => ({
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${shown(value)}: supported values: ${supported.map(shown).join(', ')}`,
    field,
  }),
  forbidden: (field, detail) => ({
    reason: 'FieldValueForbidden',
    message: `Forbidden: ${detail}`,
    field,
  }),
  typeInvalid: (field, value, detail) => ({
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: ${shown(value)}: ${detail}`,
    field,
  }),
  tooMany: (field, count, most) => ({
    reason: 'FieldValueTooMany',
    message: `Too many: ${count}: must have at most ${most} items`,
    field,
  }),
  tooLong: (field, most) => ({
    reason: 'FieldValueTooLong',
    message: `Too long: may not be more than ${most} bytes`,
    field,
  }),
};

function shown(value: unknown): string {
  return JSON.stringify(value ?? 'null');
}
