// The CapacityRequest of a Pod: a pure function of the Pod and the owner's class table (kubernetes
// §5.2–§5.4). Taints and tolerations, volumes, host ports and the number of Pods per node are not
// translated: a Pod that waits for one of those may stay Pending although its demand is covered.

import { createHash } from 'node:crypto';
import { compareText, parseQuantity } from '@bigfleet/base';
import {
  ANNOTATIONS,
  type CapacityRequestSpec,
  type CoLocation,
  effectiveRequests,
  isDaemonSetPod,
  LABELS,
  type NodeRequirement,
  type Pod,
  type TopologySpreadTerm,
} from '@bigfleet/kube';
import type { ClassTable } from './class-defaults.ts';

export interface Derived {
  readonly spec: CapacityRequestSpec;
  /** What the owner of the Pod should know, for Warning Events. */
  readonly warnings: readonly PodWarning[];
}

export interface PodWarning {
  /** Of the Event. */
  readonly reason: 'BadPenalty' | 'PriorityUnresolved';
  readonly message: string;
}

const HOSTNAME = 'kubernetes.io/hostname';

/** A Pod without requirements still needs something to match: every machine has a type. */
const ANY_MACHINE: NodeRequirement = {
  key: 'node.kubernetes.io/instance-type',
  operator: 'Exists',
};

export function deriveSpec(pod: Pod, classes: ClassTable): Derived {
  const { spec, metadata } = pod;
  const defaults = classes.get(spec.priorityClassName ?? '');
  const warnings: PodWarning[] = [];
  const penalty = (annotation: string, ofClass: string | undefined): string | undefined => {
    const text = metadata.annotations?.[annotation];
    if (text === undefined) return ofClass;
    if (parseQuantity(text).ok) return text;
    const message = `annotation ${annotation} is no quantity and counts as absent`;
    warnings.push({ reason: 'BadPenalty', message });
    return ofClass;
  };
  return {
    spec: {
      requirements: requirementsOf(pod),
      resources: effectiveRequests(pod),
      priority: priorityOf(pod, defaults?.priority, warnings),
      interruptionPenalty: penalty(ANNOTATIONS.interruptionPenalty, defaults?.interruptionPenalty),
      reclamationPenalty: penalty(ANNOTATIONS.reclamationPenalty, defaults?.reclamationPenalty),
      topologySpread: spreadOf(pod),
      coLocation: coLocationOf(pod),
    },
    warnings,
  };
}

/** Admission writes the number of the class into the Pod; where it is switched off, nobody does. */
function priorityOf({ spec }: Pod, ofClass: number | undefined, warnings: PodWarning[]): number {
  const priority = ofClass ?? spec.priority;
  const { priorityClassName = '' } = spec;
  if (priority === undefined && priorityClassName !== '') {
    const message = `PriorityClass ${priorityClassName} has no number here: the Pod counts as priority 0`;
    warnings.push({ reason: 'PriorityUnresolved', message });
  }
  return priority ?? 0;
}

/** The first term only: a CapacityRequest has no OR. A DaemonSet's Pods aggregate without their pin. */
function requirementsOf(pod: Pod): readonly NodeRequirement[] {
  const { affinity, nodeSelector } = pod.spec;
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const selected = Object.entries(nodeSelector ?? {})
    .sort(([a], [b]) => compareText(a, b))
    .map(([key, value]) => ({ key, operator: 'In', values: [value] }));
  const all = [...(terms?.nodeSelectorTerms[0]?.matchExpressions ?? []), ...selected];
  const isPinned = isDaemonSetPod(pod);
  const kept = all.filter(({ key }) => !isPinned || key !== HOSTNAME);
  return kept.length === 0 ? [ANY_MACHINE] : kept;
}

function spreadOf({ spec }: Pod): readonly TopologySpreadTerm[] | undefined {
  const enforced = (spec.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule')
    .map(({ topologyKey, maxSkew, whenUnsatisfiable }) => ({
      topologyKey,
      maxSkew,
      whenUnsatisfiable,
    }));
  return enforced.length === 0 ? undefined : enforced;
}

function coLocationOf({ spec }: Pod): CoLocation | undefined {
  const [term] = spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (term === undefined) return undefined;
  const { topologyKey, labelSelector } = term;
  return labelSelector === undefined ? { topologyKey } : { topologyKey, labelSelector };
}

// ── the object ──────────────────────────────────────────────────────────────────────────────

const MAX_NAME_LENGTH = 63;
const MAX_GENERATE_NAME_LENGTH = 253;
const PREFIX = 'cr-pod-';
const UID_HASH_LENGTH = 10;

/** The same for every attempt, so that a create that was answered too late is not made twice. */
export function requestName(podName: string, podUid: string): string {
  const hash = createHash('sha256').update(podUid).digest('hex').slice(0, UID_HASH_LENGTH);
  const room = MAX_NAME_LENGTH - PREFIX.length - UID_HASH_LENGTH - 1;
  return `${PREFIX}${podName.slice(0, room).replace(/[-.]+$/, '')}-${hash}`;
}

/** Kept for people and tools that know requests by it; the server names by `requestName`. */
export function requestGenerateName(podName: string): string {
  return `${PREFIX}${podName.slice(0, MAX_GENERATE_NAME_LENGTH - PREFIX.length - 1)}-`;
}

export function requestObject(pod: Pod, { spec }: Derived): RequestObject {
  const { name, namespace = '', uid } = pod.metadata;
  return {
    apiVersion: 'bigfleet.lucy.sh/v1alpha1',
    kind: 'CapacityRequest',
    metadata: {
      name: requestName(name, uid),
      generateName: requestGenerateName(name),
      namespace,
      labels: { [LABELS.ownedByPod]: uid },
      annotations: { [ANNOTATIONS.derived]: fieldHashes(spec) },
      // Without blockOwnerDeletion, which would need the right to set finalizers on Pods.
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
    },
    spec,
  };
}

export interface RequestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly generateName: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly ownerReferences: readonly object[];
  };
  readonly spec: CapacityRequestSpec;
  readonly [key: string]: unknown;
}

// ── later changes ───────────────────────────────────────────────────────────────────────────

const SPEC_FIELDS = [
  'requirements',
  'resources',
  'priority',
  'interruptionPenalty',
  'reclamationPenalty',
  'topologySpread',
  'coLocation',
] as const satisfies readonly (keyof CapacityRequestSpec)[];

const FIELD_HASH_LENGTH = 8;

/** A hash per derived field, as the annotation holds it. */
export function fieldHashes(spec: CapacityRequestSpec): string {
  const hashes = SPEC_FIELDS.map((field) => [field, fieldHash(spec[field])]);
  return JSON.stringify(Object.fromEntries(hashes));
}

function fieldHash(value: unknown): string {
  if (value === undefined) return '';
  return createHash('sha256')
    .update(JSON.stringify(value))
    .digest('hex')
    .slice(0, FIELD_HASH_LENGTH);
}

/**
 * The fields whose derived value changed since `annotation` was written: only they are patched, so that
 * a person's edit of a priority or a penalty holds until the Pod itself changes. Undefined: the field
 * goes.
 */
export function changedFields(
  spec: CapacityRequestSpec,
  annotation: string | undefined,
): Readonly<Record<string, unknown>> | undefined {
  const before = parsedHashes(annotation);
  const changed = SPEC_FIELDS.filter((field) => (before[field] ?? '') !== fieldHash(spec[field]));
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((field) => [field, spec[field]]));
}

function parsedHashes(annotation: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(annotation ?? '{}');
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
}
