// What the body and the query of a write ask for, refused in the words of the real server.

import { parseYaml } from '@bigfleet/process';
import { isObject } from '../../api/answer.ts';
import { JSON_TYPE } from './answers.ts';
import { asNumber, asObj, asText, at, type Obj } from './json.ts';
import type { DeleteOptions, WriteMode } from './objects.ts';
import type { ServerRequest, Target } from './request.ts';
import {
  badRequest,
  detailsOf,
  fieldError,
  invalidOptions,
  MEDIA_TYPES,
  methodNotAllowed,
  qualified,
  Refusal,
  unsupportedMediaType,
} from './status.ts';

export function parsedBody(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw badRequest(
      `error decoding the request body: ${error instanceof Error ? error.message : ''}`,
    );
  }
}

export function parsedYaml(text: string): unknown {
  const parsed = parseYaml(text);
  if (!parsed.ok) throw badRequest(`error decoding YAML: ${parsed.error}`);
  return parsed.value;
}

export function bodyOf({ body = '', contentType }: ServerRequest): Obj {
  const media = (contentType ?? JSON_TYPE).split(';')[0]?.trim() ?? '';
  if (media === 'application/yaml') return asObj(parsedYaml(body));
  if (media !== JSON_TYPE && media !== '*/*' && media !== '') {
    throw unsupportedMediaType(MEDIA_TYPES);
  }
  const parsed = parsedBody(body);
  if (!isObject(parsed)) throw badRequest('error decoding the request body: no object');
  return parsed;
}

export function checkName(name: string, target: Target): void {
  if (name === target.name) return;
  throw badRequest(
    `the name of the object (${name}) does not match the name on the URL (${target.name})`,
  );
}

const SUMMARY_LENGTH = 30;

/** A custom resource says what it is; built-in kinds are told by the path. */
export function checkHasKind({ type }: Target, { body = '' }: ServerRequest, object: Obj): void {
  if (asText(object['kind']) !== '') return;
  const summary = body.length > SUMMARY_LENGTH ? `${body.slice(0, SUMMARY_LENGTH)} ...` : body;
  throw badRequest(
    `the object provided is unrecognized (must be of type ${type.kind}): Object 'Kind' is missing in '${body}' (${summary})`,
  );
}

export function unsupportedCreate({ type }: Target): Refusal {
  if (type.custom === undefined) return methodNotAllowed();
  const message = `create is not supported on resources of kind "${qualified(type)}"`;
  return new Refusal(405, 'MethodNotAllowed', message, detailsOf(type, ''));
}

const VALIDATIONS = ['', 'Ignore', 'Strict', 'Warn'];

export function modeOf(query: URLSearchParams): WriteMode {
  const validation = query.get('fieldValidation') ?? '';
  if (!VALIDATIONS.includes(validation)) {
    const problem = fieldError.unsupported('fieldValidation', validation, VALIDATIONS);
    throw invalidOptions('CreateOptions', [problem]);
  }

  const dryRun = query.getAll('dryRun');
  if (dryRun.some((one) => one !== 'All')) {
    throw badRequest(`Invalid value: ${JSON.stringify(dryRun)}: dryRun: supported values: "All"`);
  }
  return { isDryRun: dryRun.length > 0, isStrict: query.get('fieldValidation') === 'Strict' };
}

const POLICIES = ['Foreground', 'Background', 'Orphan'];

/** `Kind` is that of the options, when the body names one. */
function checkDeleteOptions(body: Obj): void {
  const kind = asText(body['kind']);
  if (kind !== '' && kind !== 'DeleteOptions') throw badRequest(`no kind "${kind}" is registered`);
  const field = 'propagationPolicy';
  const policy = asText(body[field]);
  if (policy === '') return;
  if (!POLICIES.includes(policy)) {
    const problem = fieldError.unsupported(field, policy, [...POLICIES, 'nil']);
    throw invalidOptions('DeleteOptions', [problem]);
  }
  if (body['orphanDependents'] === undefined) return;
  const detail = 'orphanDependents and deletionPropagation cannot be both set';
  throw invalidOptions('DeleteOptions', [fieldError.invalid(field, policy, detail)]);
}

export function deleteOptionsOf(body: Obj, query: URLSearchParams): DeleteOptions {
  checkDeleteOptions(body);
  const grace =
    asNumber(body['gracePeriodSeconds']) ?? query.get('gracePeriodSeconds') ?? undefined;
  const asked = body['dryRun'];
  return {
    isDryRun: modeOf(query).isDryRun === true || (Array.isArray(asked) && asked.includes('All')),
    gracePeriodSeconds: grace === undefined ? undefined : Number(grace),
    propagationPolicy:
      (asText(body['propagationPolicy']) || query.get('propagationPolicy')) ?? undefined,
    uid: asText(at(body, 'preconditions', 'uid')) || undefined,
    resourceVersion: asText(at(body, 'preconditions', 'resourceVersion')) || undefined,
  };
}
