// What a Pod's requests should become: a pure decision over the records, one step at a time. The next
// step follows from the next look, so that nothing is done on a belief that a write just changed.

import type { PodRecord, RequestRecord } from './records.ts';

export type PodStep =
  | { readonly kind: 'nothing'; readonly outcome: 'cr_exists' | 'pod_terminal' | 'excluded' }
  | { readonly kind: 'create'; readonly isForeign: boolean }
  | {
      readonly kind: 'delete';
      readonly request: RequestRecord;
      readonly outcome: 'pod_terminal' | 'excluded' | 'duplicate_deleted';
    }
  | { readonly kind: 'update'; readonly request: RequestRecord }
  | { readonly kind: 'mark'; readonly request: RequestRecord; readonly isForeign: boolean };

export interface PodSituation {
  readonly pod: PodRecord;
  /** All that name this Pod's uid. */
  readonly requests: readonly RequestRecord[];
  /** The Pod's node is judged not to be BigFleet's. */
  readonly isForeign: boolean;
}

export function nextStep({ pod, requests, isForeign }: PodSituation): PodStep {
  const [oldest, ...others] = requests.toSorted(byAge);
  if (pod.demand !== 'one') {
    const outcome = pod.demand === 'none_terminal' ? 'pod_terminal' : 'excluded';
    return oldest === undefined
      ? { kind: 'nothing', outcome }
      : { kind: 'delete', request: oldest, outcome };
  }
  // A Pod without a node is Pending again: its demand is ours.
  const shouldBeMarked = isForeign && pod.nodeName !== '';
  if (oldest === undefined) return { kind: 'create', isForeign: shouldBeMarked };
  const [duplicate] = others;
  if (duplicate !== undefined) {
    return { kind: 'delete', request: duplicate, outcome: 'duplicate_deleted' };
  }
  if (oldest.derived !== pod.derived) return { kind: 'update', request: oldest };
  if (oldest.isForeign !== shouldBeMarked) {
    return { kind: 'mark', request: oldest, isForeign: shouldBeMarked };
  }
  return { kind: 'nothing', outcome: 'cr_exists' };
}

function byAge(a: RequestRecord, b: RequestRecord): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
