// A flow is what moves between two shards, in either direction: moving the same kind of thing back
// a moment later is oscillation, whichever pass thought it useful. An empty type or zone means "any"
// and meets every other, because an unpinned move may have carried exactly the pinned machines.

import { compareText } from '@bigfleet/base';

export interface Flow {
  /** Machines, a drain that makes some idle, or the slices of one quota (`name/region`). */
  readonly kind: 'machines' | 'drain' | `quota:${string}`;
  readonly instanceType: string;
  readonly zone: string;
  /** Sorted. */
  readonly shards: readonly [string, string];
}

export interface FlowParts {
  readonly kind: Flow['kind'];
  readonly instanceType: string;
  readonly zone: string;
  readonly from: string;
  readonly to: string;
}

export function flowOf(parts: FlowParts): Flow {
  const { kind, instanceType, zone, from, to } = parts;
  const shards: [string, string] = compareText(from, to) <= 0 ? [from, to] : [to, from];
  return { kind, instanceType, zone, shards };
}

export function pairKey(flow: Flow): string {
  return `${flow.kind}|${flow.shards[0]}|${flow.shards[1]}`;
}

export function meets(a: Flow, b: Flow): boolean {
  return (
    pairKey(a) === pairKey(b) && agrees(a.instanceType, b.instanceType) && agrees(a.zone, b.zone)
  );
}

function agrees(a: string, b: string): boolean {
  return a === b || a === '' || b === '';
}
