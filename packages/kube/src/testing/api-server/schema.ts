// Structural schemas of custom resources: unknown fields are pruned, defaults filled in, the rest is
// validated with the real server's words. Rules (x-kubernetes-validations) are understood in two forms only,
// `self == '<literal>'` and `self != '<literal>'`; any other is refused when the definition is created, so
// that no test believes in a rule that is never evaluated.

import { compareText } from '@bigfleet/base';
import { isObject } from '../../api/answer.ts';
import { asList, asObj, asText, at, clone, isEqual, type Obj } from './json.ts';
import { type Cause, fieldError } from './status.ts';

export interface CompiledSchema {
  readonly root: Obj;
  readonly hasRules: boolean;
}

const RULE = /^\s*self\s*(==|!=)\s*(?:'([^'\\]*)'|"([^"\\]*)")\s*$/;
const ROOT_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

/** Problems of a schema itself, as creating its definition reports them. */
export function schemaProblems(schema: unknown, path: string): Cause[] {
  if (!isObject(schema)) return [fieldError.required(path, 'schemas are required')];
  const problems: Cause[] = [];
  if (schema['type'] !== 'object') {
    problems.push(
      fieldError.invalid(`${path}.type`, schema['type'] ?? '', 'must be object at the root'),
    );
  }
  checkNode(schema, path, problems);
  return problems;
}

function checkNode(schema: Obj, path: string, problems: Cause[]): void {
  const isFree =
    schema['x-kubernetes-int-or-string'] === true ||
    schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (asText(schema['type']) === '' && !isFree) {
    problems.push(
      fieldError.required(`${path}.type`, 'must not be empty for specified object fields'),
    );
  }
  asList(schema['x-kubernetes-validations']).forEach((rule, i) => {
    const text = asText(at(rule, 'rule'));
    if (RULE.test(text)) return;
    problems.push(
      fieldError.invalid(
        `${path}.x-kubernetes-validations[${i}].rule`,
        text,
        "this test API server evaluates only self == '<literal>' and self != '<literal>'",
      ),
    );
  });
  for (const [name, child] of Object.entries(asObj(schema['properties']))) {
    checkNode(asObj(child), `${path}.properties[${name}]`, problems);
  }
  if (isObject(schema['items'])) checkNode(schema['items'], `${path}.items`, problems);
  const values = schema['additionalProperties'];
  if (isObject(values)) checkNode(values, `${path}.additionalProperties`, problems);
}

export function compileSchema(root: Obj): CompiledSchema {
  return { root, hasRules: JSON.stringify(root).includes('"x-kubernetes-validations"') };
}

/** Removes unknown fields in place and returns their paths. */
export function prune(object: Obj, schema: CompiledSchema): string[] {
  const unknown: string[] = [];
  pruneNode(object, schema.root, { path: '', isRoot: true, unknown });
  return unknown;
}

function pruneNode(
  value: unknown,
  schema: Obj,
  here: { readonly path: string; readonly isRoot: boolean; readonly unknown: string[] },
): void {
  const { path, isRoot, unknown } = here;
  if (Array.isArray(value)) {
    value.forEach((one, i) =>
      pruneNode(one, asObj(schema['items']), { path: `${path}[${i}]`, isRoot: false, unknown }),
    );
    return;
  }
  if (!isObject(value)) return;
  const properties = asObj(schema['properties']);
  const values = schema['additionalProperties'];
  for (const key of Object.keys(value)) {
    if (isRoot && ROOT_FIELDS.has(key)) continue;
    const childPath = path === '' ? key : `${path}.${key}`;
    const child = Object.hasOwn(properties, key) ? asObj(properties[key]) : undefined;
    if (child !== undefined) {
      pruneNode(value[key], child, { path: childPath, isRoot: false, unknown });
    } else if (isObject(values)) {
      pruneNode(value[key], values, { path: childPath, isRoot: false, unknown });
    } else if (values !== true && schema['x-kubernetes-preserve-unknown-fields'] !== true) {
      delete (value as Obj)[key];
      unknown.push(childPath);
    }
  }
}

/** Fills defaults in place. A null where null is not allowed counts as absent. */
export function applyDefaults(value: unknown, schema: Obj): void {
  if (Array.isArray(value)) {
    for (const one of value) applyDefaults(one, asObj(schema['items']));
    return;
  }
  if (!isObject(value)) return;
  const object = value as Obj;
  for (const [key, raw] of Object.entries(asObj(schema['properties']))) {
    const child = asObj(raw);
    const isAbsent =
      object[key] === undefined || (object[key] === null && child['nullable'] !== true);
    if (isAbsent && child['default'] !== undefined) object[key] = clone(child['default']);
    else if (isAbsent) delete object[key];
    if (object[key] !== undefined) applyDefaults(object[key], child);
  }
  const values = schema['additionalProperties'];
  if (isObject(values)) for (const one of Object.values(object)) applyDefaults(one, values);
}

const NOT_CHECKED: Cause = {
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};
const BLOCKING = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTypeInvalid',
  'FieldValueTooMany',
  'FieldValueTooLong',
]);

/** `known` are problems of the object that were found before: they keep rules from being checked too. */
export function validate(
  object: Obj,
  schema: CompiledSchema,
  known: readonly Cause[] = [],
): Cause[] {
  const causes: Cause[] = [];
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = object;
  const {
    apiVersion: _a,
    kind: _k,
    metadata: _m,
    ...properties
  } = asObj(schema.root['properties']);
  const required = asList(schema.root['required']).filter((one) => !ROOT_FIELDS.has(asText(one)));
  validateNode(rest, { ...schema.root, properties, required }, { path: '', causes });
  if (!schema.hasRules) return causes;
  if ([...known, ...causes].some(({ reason }) => BLOCKING.has(reason))) {
    return [...causes, NOT_CHECKED];
  }
  checkRules(rest, schema.root, { path: '', causes });
  return causes;
}

interface Place {
  readonly path: string;
  readonly causes: Cause[];
}

function validateNode(value: unknown, schema: Obj, place: Place): void {
  const { path, causes } = place;
  if (value === null && schema['nullable'] === true) return;
  const problem = typeProblem(value, schema);
  if (problem !== undefined) {
    causes.push(typeCause(path, problem));
    if (Array.isArray(schema['anyOf'])) {
      causes.push(unplaced(`"${path}" must validate at least one schema (anyOf)`));
      causes.push(typeCause(path, { wanted: 'integer', found: problem.found }));
    }
    if (problem.found === 'number' || problem.found === 'float64') {
      causes.push(unplaced(notInteger(schema, path)));
    }
    return;
  }
  const choices = schema['enum'];
  if (Array.isArray(choices) && !choices.some((one) => isEqual(one, value))) {
    causes.push(fieldError.unsupported(path, value, choices));
  }
  if (typeof value === 'string') validateText(value, schema, place);
  else if (typeof value === 'number') validateNumber(value, schema, place);
  else if (Array.isArray(value)) validateList(value, schema, place);
  else if (isObject(value)) validateObject(value, schema, place);
}

function typeCause(
  path: string,
  { wanted, found }: { readonly wanted: string; readonly found: string },
): Cause {
  return fieldError.typeInvalid(
    path,
    found,
    `${path} in body must be of type ${wanted}: "${found}"`,
  );
}

/** A problem that the real server reports without its field. */
function unplaced(message: string): Cause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: "": ${message}` };
}

function notInteger({ format }: Obj, path: string): string {
  const named = asText(format) === '' ? '(default format)' : `with format ${asText(format)}`;
  return `Checked value must be of type integer ${named} in ${path}`;
}

function typeProblem(value: unknown, schema: Obj): { wanted: string; found: string } | undefined {
  const found = typeName(value);
  if (schema['x-kubernetes-int-or-string'] === true) {
    return found === 'integer' || found === 'string'
      ? undefined
      : { wanted: 'integer,string', found };
  }
  const wanted = asText(schema['type']);
  if (wanted === '' || wanted === found || (wanted === 'number' && found === 'integer'))
    return undefined;
  const format = asText(schema['format']);
  if (wanted === 'integer' && found === 'number' && format !== '') {
    return { wanted: format, found: 'float64' };
  }
  return { wanted, found };
}

function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

const FORMATS: Readonly<Record<string, RegExp>> = {
  'date-time': /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
  uuid: /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i,
};

function validateText(value: string, schema: Obj, { path, causes }: Place): void {
  const { minLength, maxLength, pattern, format } = schema;
  const length = Array.from(value).length;
  if (typeof maxLength === 'number' && length > maxLength) {
    causes.push(fieldError.tooLong(path, maxLength));
  }
  if (typeof minLength === 'number' && length < minLength) {
    const detail = `${path} in body should be at least ${minLength} chars long`;
    causes.push(fieldError.invalid(path, value, detail));
  }
  if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(value)) {
    causes.push(fieldError.invalid(path, value, `${path} in body should match '${pattern}'`));
  }
  const known = FORMATS[asText(format)];
  if (known !== undefined && !known.test(value)) {
    // Formats are told with the last name of the path alone.
    const name = path.slice(path.lastIndexOf('.') + 1);
    const detail = `${name} in body must be of type ${asText(format)}: ${JSON.stringify(value)}`;
    causes.push(fieldError.typeInvalid(path, value, detail));
  }
}

const INT32_LIMIT = 2 ** 31;

function validateNumber(value: number, schema: Obj, { path, causes }: Place): void {
  const { minimum, maximum, format } = schema;
  if (format === 'int32' && !(value >= -INT32_LIMIT && value < INT32_LIMIT)) {
    causes.push(unplaced(notInteger(schema, path)));
  }
  if (typeof maximum === 'number' && value > maximum) {
    causes.push(
      fieldError.invalid(path, value, `${path} in body should be less than or equal to ${maximum}`),
    );
  }
  if (typeof minimum === 'number' && value < minimum) {
    causes.push(
      fieldError.invalid(
        path,
        value,
        `${path} in body should be greater than or equal to ${minimum}`,
      ),
    );
  }
}

function validateList(value: readonly unknown[], schema: Obj, { path, causes }: Place): void {
  const { minItems, maxItems } = schema;
  if (typeof maxItems === 'number' && value.length > maxItems) {
    causes.push(fieldError.tooMany(path, value.length, maxItems));
  }
  if (typeof minItems === 'number' && value.length < minItems) {
    const detail = `${path} in body should have at least ${minItems} items`;
    causes.push(fieldError.invalid(path, value.length, detail));
  }
  value.forEach((one, i) =>
    validateNode(one, asObj(schema['items']), { path: `${path}[${i}]`, causes }),
  );
}

function validateObject(value: Readonly<Obj>, schema: Obj, { path, causes }: Place): void {
  const properties = asObj(schema['properties']);
  const values = schema['additionalProperties'];
  for (const key of asList(schema['required']).map(asText)) {
    if (value[key] === undefined) causes.push(fieldError.required(joined(path, key)));
  }
  for (const key of Object.keys(value).sort(compareText)) {
    const child = value[key];
    const place = { path: joined(path, key), causes };
    if (Object.hasOwn(properties, key)) validateNode(child, asObj(properties[key]), place);
    else if (isObject(values)) validateNode(child, values, place);
  }
}

function checkRules(value: unknown, schema: Obj, place: Place): void {
  const { path, causes } = place;
  for (const one of asList(schema['x-kubernetes-validations'])) {
    const rule = asText(at(one, 'rule'));
    const found = RULE.exec(rule);
    const isSame = value === (found?.[2] ?? found?.[3]);
    if (isSame === (found?.[1] === '==')) continue;
    const message = asText(at(one, 'message')) || `failed rule: ${rule}`;
    const shown = typeof value === 'object' ? asText(schema['type']) : value;
    causes.push(fieldError.invalid(path, shown, message));
  }
  if (Array.isArray(value)) {
    value.forEach((one, i) =>
      checkRules(one, asObj(schema['items']), { path: `${path}[${i}]`, causes }),
    );
  } else if (isObject(value)) {
    const properties = asObj(schema['properties']);
    const values = schema['additionalProperties'];
    for (const [key, child] of Object.entries(value)) {
      const next = Object.hasOwn(properties, key) ? properties[key] : values;
      if (isObject(next)) checkRules(child, next, { path: joined(path, key), causes });
    }
  }
}

function joined(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
