// How two lists of actions differ: what only one side decided, and whether the same was decided
// in another order. The lists kept are bounded; the counts are exact.

import { type ActionKindCode, actionKindName } from '../model/action.ts';
import type { DecidedAction } from './entry.ts';

/** Actions of either side that a difference keeps. */
export const MAX_KEPT_ACTIONS = 1000;
const SHOWN_ACTIONS = 10;

export type KindCounts = Readonly<Record<ActionKindCode, number>>;

export interface ActionDifference {
  readonly onlyACount: number;
  readonly onlyBCount: number;
  readonly onlyAByKind: KindCounts;
  readonly onlyBByKind: KindCounts;
  /** In order of emission, at most MAX_KEPT_ACTIONS. */
  readonly onlyA: readonly DecidedAction[];
  readonly onlyB: readonly DecidedAction[];
  /** The first place at which the lists differ; −1 when they do not. */
  readonly firstIndex: number;
}

export function differenceOf(
  a: readonly DecidedAction[],
  b: readonly DecidedAction[],
): ActionDifference {
  const keysA = a.map(keyOf);
  const keysB = b.map(keyOf);
  const onlyA = missingFrom(a, keysA, keysB);
  const onlyB = missingFrom(b, keysB, keysA);
  return {
    onlyACount: onlyA.length,
    onlyBCount: onlyB.length,
    onlyAByKind: countKinds(onlyA),
    onlyBByKind: countKinds(onlyB),
    onlyA: onlyA.slice(0, MAX_KEPT_ACTIONS),
    onlyB: onlyB.slice(0, MAX_KEPT_ACTIONS),
    firstIndex: firstDifference(keysA, keysB),
  };
}

export function countKinds(actions: readonly DecidedAction[]): KindCounts {
  const counts: Record<ActionKindCode, number> = { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 };
  for (const { kind } of actions) counts[kind] += 1;
  return counts;
}

export function addKinds(a: KindCounts, b: KindCounts): KindCounts {
  return { 1: a[1] + b[1], 2: a[2] + b[2], 3: a[3] + b[3], 4: a[4] + b[4], 5: a[5] + b[5] };
}

/** Lines for a person; `nameA` and `nameB` say whose actions they are. */
export function describeDifference(
  difference: ActionDifference,
  nameA: string,
  nameB: string,
): string[] {
  const { onlyACount, onlyBCount, onlyA, onlyB, firstIndex } = difference;
  if (onlyACount + onlyBCount === 0) return [`  same actions, other order from ${firstIndex} on`];
  return [
    ...shown(onlyA, onlyACount, `  only ${nameA}: `),
    ...shown(onlyB, onlyBCount, `  only ${nameB}: `),
  ];
}

export function describeAction(action: DecidedAction): string {
  const { kind, machineId, cluster, fingerprint, group, graceSeconds, preemptorPriority } = action;
  return [
    `${actionKindName(kind)} ${JSON.stringify(machineId)}`,
    ...(cluster === '' ? [] : [`cluster ${JSON.stringify(cluster)}`]),
    ...(fingerprint === '' ? [] : [`need ${fingerprint}`]),
    ...(group === '' ? [] : [`group ${JSON.stringify(group)}`]),
    ...(graceSeconds === 0 ? [] : [`grace ${graceSeconds} s`]),
    ...(preemptorPriority === 0 ? [] : [`for priority ${preemptorPriority}`]),
  ].join(', ');
}

function shown(actions: readonly DecidedAction[], count: number, prefix: string): string[] {
  const lines = actions.slice(0, SHOWN_ACTIONS).map((action) => prefix + describeAction(action));
  return count > lines.length ? [...lines, `${prefix}… and ${count - lines.length} more`] : lines;
}

/** By multiplicity: an engine that decides one action twice must not pass for one that does once. */
function missingFrom(
  list: readonly DecidedAction[],
  keys: readonly string[],
  others: readonly string[],
): DecidedAction[] {
  const left = new Map<string, number>();
  for (const key of others) left.set(key, (left.get(key) ?? 0) + 1);
  return list.filter((_, at) => {
    const key = keys[at]!;
    const count = left.get(key) ?? 0;
    left.set(key, count - 1);
    return count <= 0;
  });
}

function firstDifference(a: readonly string[], b: readonly string[]): number {
  const length = Math.max(a.length, b.length);
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return at;
  return -1;
}

function keyOf(action: DecidedAction): string {
  return JSON.stringify([
    action.kind,
    action.machineId,
    action.cluster,
    action.fingerprint,
    action.group,
    action.graceSeconds,
    action.preemptorPriority,
  ]);
}
