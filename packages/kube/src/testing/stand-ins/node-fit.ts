// Whether a Pod may run on a node: labels, taints, readiness and free resources. The stand-in scheduler
// knows no spread, no affinity between Pods, no volumes and no ports; tests of those use kube-scheduler.

import { parseQuantity } from '@bigfleet/base';
import type { ApiObject } from '../../api/answer.ts';
import type { ResourceList, SelectorExpression } from '../../api/objects.ts';
import { asList, asObj, asText, at, metaOf, textAt, textMap } from '../api-server/json.ts';

export type Amounts = ReadonlyMap<string, bigint>;

export interface NodeRecord {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly isSchedulable: boolean;
  readonly taints: readonly ApiObject[];
  /** In nano-units. */
  readonly allocatable: Amounts;
}

export interface Placement {
  readonly selector: Readonly<Record<string, string>>;
  /** Alternatives; a Pod without any may go anywhere. */
  readonly terms: readonly (readonly SelectorExpression[])[];
  readonly tolerations: readonly ApiObject[];
  readonly requests: Amounts;
}

export function readNode(object: ApiObject): NodeRecord {
  const ready = asList(at(object, 'status', 'conditions')).find(
    (one) => textAt(one, 'type') === 'Ready',
  );
  return {
    name: asText(metaOf(object)['name']),
    labels: textMap(metaOf(object)['labels']),
    isSchedulable:
      textAt(ready, 'status') === 'True' && at(object, 'spec', 'unschedulable') !== true,
    taints: asList(at(object, 'spec', 'taints')).map(asObj),
    allocatable: amountsOf(asObj(at(object, 'status', 'allocatable')) as ResourceList),
  };
}

export function amountsOf(list: ResourceList): Amounts {
  const amounts = new Map<string, bigint>();
  for (const [name, raw] of Object.entries(list)) {
    const parsed = parseQuantity(String(raw));
    if (parsed.ok) amounts.set(name, parsed.value.nanos);
  }
  return amounts;
}

/** Why not, in kube-scheduler's words; undefined: it fits. */
export function misfit(node: NodeRecord, pod: Placement, used: Amounts): string | undefined {
  if (!node.isSchedulable) return 'node(s) were unschedulable';
  if (!node.taints.every((taint) => isTolerated(taint, pod.tolerations))) {
    return 'node(s) had untolerated taint(s)';
  }
  if (!isSelected(node, pod)) return "node(s) didn't match Pod's node affinity/selector";
  for (const [name, wanted] of pod.requests) {
    const free = (node.allocatable.get(name) ?? 0n) - (used.get(name) ?? 0n);
    if (wanted > free) return name === 'pods' ? 'Too many pods' : `Insufficient ${name}`;
  }
  return undefined;
}

function isSelected({ labels }: NodeRecord, { selector, terms }: Placement): boolean {
  if (Object.entries(selector).some(([key, value]) => labels[key] !== value)) return false;
  return terms.length === 0 || terms.some((term) => term.every((one) => matches(labels, one)));
}

function matches(labels: Readonly<Record<string, string>>, one: SelectorExpression): boolean {
  const value = labels[one.key];
  const values = one.values ?? [];
  switch (one.operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

function isTolerated(taint: ApiObject, tolerations: readonly ApiObject[]): boolean {
  if (taint['effect'] === 'PreferNoSchedule') return true;
  return tolerations.some(({ key, operator, value, effect }) => {
    if (effect !== undefined && effect !== '' && effect !== taint['effect']) return false;
    if (operator === 'Exists') return key === undefined || key === '' || key === taint['key'];
    return key === taint['key'] && asText(value) === asText(taint['value']);
  });
}
