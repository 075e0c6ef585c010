// Names, labels and the fields of metadata that only the server writes.

import type { Runtime } from '@bigfleet/base';
import { asList, asObj, asText, isEqual, type Obj, textMap } from './json.ts';
import type { ResourceType } from './resources.ts';
import { type Cause, fieldError } from './status.ts';

const MAX_NAME = 253;
const MAX_LABEL_NAME = 63;
const SUFFIX_LENGTH = 5;
/** No vowels and no characters that look alike, as the real server draws them. */
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const MAX_GENERATED_BASE = MAX_LABEL_NAME - SUFFIX_LENGTH;

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const PATH_SEGMENT = /^(?!\.{1,2}$)[^/%]+$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const LABEL_NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const SUBDOMAIN_MESSAGE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_MESSAGE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_VALUE_MESSAGE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const LABEL_NAME_MESSAGE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

export function generatedName(runtime: Runtime, base: string): string {
  let suffix = '';
  for (let i = 0; i < SUFFIX_LENGTH; i++) {
    suffix += SUFFIX_ALPHABET.charAt(runtime.random.below(SUFFIX_ALPHABET.length));
  }
  return base.slice(0, MAX_GENERATED_BASE) + suffix;
}

export function newUid(runtime: Runtime): string {
  const bytes = runtime.entropy.bytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export function metadataProblems(type: ResourceType, meta: Obj): Cause[] {
  const problems: Cause[] = [];
  const name = asText(meta['name']);
  const base = asText(meta['generateName']);
  if (base !== '') {
    // A trailing dash is fine in a prefix: something follows it. The server masks one character more.
    const problem = nameProblem(type, base.endsWith('-') ? `${base.slice(0, -2)}a` : base);
    if (problem !== undefined) {
      problems.push(fieldError.invalid('metadata.generateName', base, problem));
    }
  }
  if (name === '') {
    problems.push(fieldError.required('metadata.name', 'name or generateName is required'));
  } else {
    const problem = nameProblem(type, name);
    if (problem !== undefined) problems.push(fieldError.invalid('metadata.name', name, problem));
  }
  return [...problems, ...labelProblems(meta), ...ownerProblems(meta)];
}

function nameProblem(type: ResourceType, name: string): string | undefined {
  if (type.group === 'rbac.authorization.k8s.io') {
    return PATH_SEGMENT.test(name) ? undefined : `may not contain '/'`;
  }
  const isLabel = type.group === '' && (type.plural === 'namespaces' || type.plural === 'services');
  const most = isLabel ? MAX_LABEL_NAME : MAX_NAME;
  if (name.length > most) return `must be no more than ${most} characters`;
  if (isLabel) return DNS_LABEL.test(name) ? undefined : LABEL_MESSAGE;
  return SUBDOMAIN.test(name) ? undefined : SUBDOMAIN_MESSAGE;
}

/** Of keys of labels, annotations and taints. */
export function qualifiedNameProblems(key: string): string[] {
  const name = key.slice(key.lastIndexOf('/') + 1);
  if (name === '') return ['name part must be non-empty', LABEL_NAME_MESSAGE];
  if (name.length > MAX_LABEL_NAME) {
    return [`name part must be no more than ${MAX_LABEL_NAME} bytes`];
  }
  return LABEL_NAME.test(name) ? [] : [LABEL_NAME_MESSAGE];
}

function labelProblems(meta: Obj): Cause[] {
  const problems: Cause[] = [];
  for (const field of ['annotations', 'labels']) {
    for (const key of Object.keys(textMap(meta[field]))) {
      for (const problem of qualifiedNameProblems(key)) {
        problems.push(fieldError.invalid(`metadata.${field}`, key, problem));
      }
    }
  }
  for (const value of Object.values(textMap(meta['labels']))) {
    if (value.length > MAX_LABEL_NAME) {
      problems.push(
        fieldError.invalid(
          'metadata.labels',
          value,
          `must be no more than ${MAX_LABEL_NAME} bytes`,
        ),
      );
    } else if (!LABEL_VALUE.test(value)) {
      problems.push(fieldError.invalid('metadata.labels', value, LABEL_VALUE_MESSAGE));
    }
  }
  return problems;
}

function ownerProblems(meta: Obj): Cause[] {
  const problems: Cause[] = [];
  asList(meta['ownerReferences']).forEach((one, i) => {
    const reference = asObj(one);
    for (const field of ['apiVersion', 'kind', 'name', 'uid']) {
      if (asText(reference[field]) !== '') continue;
      problems.push(
        fieldError.invalid(
          `metadata.ownerReferences[${i}].${field}`,
          '',
          `${field} must not be empty`,
        ),
      );
    }
  });
  return problems;
}

const SERVER_FIELDS = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
];
const IMMUTABLE = ['name', 'namespace', 'uid'];

/** Puts back what only the server writes; problems are about what a client tried to change. */
export function carryMetadata(next: Obj, before: Obj): Cause[] {
  const problems: Cause[] = [];
  for (const field of IMMUTABLE) {
    const value = next[field];
    if (value !== undefined && value !== before[field]) {
      problems.push(fieldError.invalid(`metadata.${field}`, value, 'field is immutable'));
    }
  }
  for (const field of [...SERVER_FIELDS, 'name', 'namespace']) {
    if (before[field] === undefined) delete next[field];
    else next[field] = before[field];
  }
  delete next['selfLink'];
  delete next['managedFields'];
  if (before['deletionTimestamp'] !== undefined) {
    const old = asList(before['finalizers']);
    const added = asList(next['finalizers']).filter((one) => !old.some((was) => isEqual(was, one)));
    if (added.length > 0) {
      const shown = added.map((one) => JSON.stringify(one)).join(', ');
      problems.push(
        fieldError.forbidden(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${shown}}`,
        ),
      );
    }
  }
  return [...problems, ...labelProblems(next), ...ownerProblems(next)];
}
