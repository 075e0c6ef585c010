// Label and field selectors: the query texts, and metav1.LabelSelector of objects. A selector that the
// server cannot read is refused with 400, never taken as "everything".

import { asList, asText, at, type Obj, textMap } from './json.ts';
import { qualifiedNameProblems } from './metadata.ts';
import type { ResourceType } from './resources.ts';
import { badRequest } from './status.ts';

export type Labels = Readonly<Record<string, string>>;
export type ObjectTest = (object: Obj) => boolean;
type LabelTest = (labels: Labels) => boolean;

const TERM =
  /^\s*(?:(?<absent>!)\s*(?<absentKey>[\w./-]+)|(?<setKey>[\w./-]+)\s+(?<set>in|notin)\s*\((?<values>[^()]*)\)|(?<key>[\w./-]+)\s*(?:(?<operator>==|=|!=|>|<)\s*(?<value>[\w.-]*))?)\s*$/;

function parseLabelSelector(text: string): LabelTest | undefined {
  if (text.trim() === '') return undefined;
  const tests = splitTerms(text).map(parseTerm);
  return (labels) => tests.every((test) => test(labels));
}

/** At commas outside of parentheses. */
function splitTerms(text: string): string[] {
  return text.split(/,(?![^()]*\))/);
}

function parseTerm(term: string): LabelTest {
  const found = TERM.exec(term)?.groups;
  if (found === undefined) {
    throw badRequest(
      `unable to parse requirement: found '${term.trim()}', expected: identifier or a valid operator`,
    );
  }
  const named = found['absentKey'] ?? found['setKey'] ?? found['key'] ?? '';
  const [problem] = qualifiedNameProblems(named);
  if (problem !== undefined) {
    const value = JSON.stringify(named);
    throw badRequest(`unable to parse requirement: <nil>: Invalid value: ${value}: ${problem}`);
  }
  const { absentKey, setKey, set, values, key = '', operator, value = '' } = found;
  if (absentKey !== undefined) return (labels) => !Object.hasOwn(labels, absentKey);
  if (setKey !== undefined) {
    const wanted = new Set((values ?? '').split(',').map((one) => one.trim()));
    if (set === 'in')
      return (labels) => Object.hasOwn(labels, setKey) && wanted.has(labels[setKey] ?? '');
    return (labels) => !Object.hasOwn(labels, setKey) || !wanted.has(labels[setKey] ?? '');
  }
  switch (operator) {
    case '=':
    case '==':
      return (labels) => Object.hasOwn(labels, key) && labels[key] === value;
    case '!=':
      return (labels) => labels[key] !== value;
    case '>':
      return (labels) => Number(labels[key] ?? Number.NaN) > Number(value);
    case '<':
      return (labels) => Number(labels[key] ?? Number.NaN) < Number(value);
    default:
      return (labels) => Object.hasOwn(labels, key);
  }
}

const COMMON_FIELDS = ['metadata.name', 'metadata.namespace'];
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  '/pods': [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  '/nodes': ['spec.unschedulable'],
  '/namespaces': ['status.phase'],
  '/secrets': ['type'],
  '/replicationcontrollers': ['status.replicas'],
  '/events': [
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'involvedObject.resourceVersion',
    'involvedObject.fieldPath',
    'reason',
    'reportingComponent',
    'source',
    'type',
  ],
  'batch/jobs': ['status.successful'],
};
/** Fields whose absence reads as something else than the empty text. */
const ABSENT: Readonly<Record<string, string>> = {
  'spec.unschedulable': 'false',
  'spec.hostNetwork': 'false',
};

function parseFieldSelector(text: string, type: ResourceType): ObjectTest | undefined {
  if (text.trim() === '') return undefined;
  const known = [
    ...COMMON_FIELDS,
    ...(FIELDS[`${type.group}/${type.plural}`] ?? []),
    ...(type.custom?.selectableFields ?? []),
  ];
  const tests = text.split(',').map((term): ObjectTest => {
    const found = /^\s*([^=!]+?)\s*(==|=|!=)\s*(.*?)\s*$/.exec(term);
    if (found === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const [, field = '', operator, value = ''] = found;
    if (!known.includes(field)) throw badRequest(`field label not supported: ${field}`);
    const path = field.split('.');
    const absent = ABSENT[field] ?? '';
    const isWanted = operator !== '!=';
    return (object) => (fieldText(at(object, ...path), absent) === value) === isWanted;
  });
  return (object) => tests.every((test) => test(object));
}

function fieldText(value: unknown, absent: string): string {
  if (value === undefined || value === null) return absent;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Both selectors of one request; undefined selects everything. */
export function selectionOf(
  type: ResourceType,
  labelSelector: string,
  fieldSelector: string,
): ObjectTest | undefined {
  const byLabel = parseLabelSelector(labelSelector);
  const byField = parseFieldSelector(fieldSelector, type);
  if (byLabel === undefined) return byField;
  const labelled: ObjectTest = (object) => byLabel(textMap(at(object, 'metadata', 'labels')));
  return byField === undefined ? labelled : (object) => labelled(object) && byField(object);
}

/** metav1.LabelSelector inside an object. An empty one matches everything, a missing one nothing. */
export function matchesSelector(selector: unknown, labels: Labels): boolean {
  if (selector === undefined || selector === null) return false;
  for (const [key, value] of Object.entries(textMap(at(selector, 'matchLabels')))) {
    if (labels[key] !== value) return false;
  }
  return asList(at(selector, 'matchExpressions')).every((one) => {
    const key = asText(at(one, 'key'));
    const values = asList(at(one, 'values'));
    const isThere = Object.hasOwn(labels, key);
    switch (at(one, 'operator')) {
      case 'In':
        return isThere && values.includes(labels[key]);
      case 'NotIn':
        return !isThere || !values.includes(labels[key]);
      case 'Exists':
        return isThere;
      case 'DoesNotExist':
        return !isThere;
      default:
        return false;
    }
  });
}
