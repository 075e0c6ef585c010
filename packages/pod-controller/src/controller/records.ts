// What the controller keeps of each object: enough to see that nothing is to do. The Pod's spec is not
// among it: a hundred thousand of them do not fit, and a Pod that needs work can be read again.

import {
  ANNOTATIONS,
  type ApiObject,
  isDaemonSetPod,
  isMirrorPod,
  isTerminalPod,
  LABELS,
  type Node,
  type ObjectMeta,
  type Pod,
} from '@bigfleet/kube';
import type { ClassTable } from '../derive/class-defaults.ts';
import { deriveSpec, fieldHashes } from '../derive/derive.ts';

export interface PodRules {
  readonly classes: ClassTable;
  readonly daemonSetPods: 'count' | 'ignore';
  readonly excludedNamespaces: ReadonlySet<string>;
}

/** Whether a Pod has a request: `none` also where one exists that should not. */
export type PodDemand = 'one' | 'none_terminal' | 'none_excluded';

export interface PodRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly demand: PodDemand;
  readonly nodeName: string;
  /** Hash per derived field, as the request's annotation must say. */
  readonly derived: string;
}

export function readPod(object: ApiObject, rules: PodRules): PodRecord {
  const pod = object as unknown as Pod;
  const { name, namespace = '', uid } = pod.metadata;
  const demand = demandOf(pod, rules);
  return {
    namespace,
    name,
    uid,
    demand,
    nodeName: pod.spec.nodeName ?? '',
    derived: demand === 'one' ? interned(fieldHashes(deriveSpec(pod, rules.classes).spec)) : '',
  };
}

/** A terminating Pod keeps its request until it is gone: it still holds its capacity. */
export function demandOf(pod: Pod, rules: PodRules): PodDemand {
  if (isTerminalPod(pod)) return 'none_terminal';
  // The scheduler never places a mirror Pod, and a gated one not yet: a queue has not admitted it.
  const isGated = (pod.spec.schedulingGates?.length ?? 0) > 0;
  const isIgnored = rules.daemonSetPods === 'ignore' && isDaemonSetPod(pod);
  const isExcluded = rules.excludedNamespaces.has(pod.metadata.namespace ?? '');
  return isMirrorPod(pod) || isGated || isIgnored || isExcluded ? 'none_excluded' : 'one';
}

export interface RequestRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly podUid: string;
  readonly podName: string;
  /** Order of creation, for keeping the oldest of two. */
  readonly createdAt: string;
  readonly derived: string;
  readonly isForeign: boolean;
}

/** Undefined for a request that no Pod owns by our label: another writer's. */
export function readRequest(object: ApiObject, meta: ObjectMeta): RequestRecord | undefined {
  const { metadata } = object as unknown as Pod;
  const { labels, annotations, creationTimestamp = '', ownerReferences = [] } = metadata;
  const podUid = labels?.[LABELS.ownedByPod];
  if (podUid === undefined) return undefined;
  return {
    namespace: meta.namespace,
    name: meta.name,
    uid: meta.uid,
    podUid,
    podName: ownerReferences.find(({ uid }) => uid === podUid)?.name ?? '',
    createdAt: creationTimestamp,
    derived: interned(annotations?.[ANNOTATIONS.derived] ?? ''),
    isForeign: labels?.[LABELS.foreignNode] === 'true',
  };
}

export interface NodeRecord {
  readonly isLabelled: boolean;
  readonly createdUnixMs: number;
}

export function readNode(object: ApiObject): NodeRecord {
  const { metadata } = object as unknown as Node;
  return {
    isLabelled: metadata.labels?.[LABELS.machineId] !== undefined,
    createdUnixMs: Date.parse(metadata.creationTimestamp ?? ''),
  };
}

/** Thousands of Pods share a handful of shapes; each text is kept once. */
const shapes = new Map<string, string>();
const MAX_SHAPES = 10_000;

function interned(text: string): string {
  const known = shapes.get(text);
  if (known !== undefined) return known;
  if (shapes.size >= MAX_SHAPES) shapes.clear();
  shapes.set(text, text);
  return text;
}
