// Safety rails between decision and execution: they bound how fast, never what is decided.
// Off in the library's zero value, because simulations exist to show the pathologies that
// rails would damp; every deployed entry point turns them on.

import type { ActionKindCode } from '../model/action.ts';
import { ActionKind } from '../model/action.ts';

export interface Rails {
  /** Share of a cluster's Configured machines that one cycle may reclaim; ≤ 0 disables. */
  readonly reclaimCapFraction: number;
  /** 0 is unlimited. */
  readonly maxActionsPerCycle: number;
}

export const railsOff: Rails = { reclaimCapFraction: 0, maxActionsPerCycle: 0 };
export const deployedRails: Rails = { reclaimCapFraction: 0.05, maxActionsPerCycle: 0 };

/** How many machines of a cluster one cycle may reclaim: never none, or nothing would shrink. */
export function reclaimCap(configuredCount: number, fraction: number): number {
  if (!(fraction > 0)) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.floor(fraction * configuredCount));
}

export interface RailedActions<A> {
  readonly kept: readonly A[];
  readonly deferredByReclaimCap: readonly A[];
  readonly deferredByMaxActions: readonly A[];
}

interface Railable {
  readonly kind: ActionKindCode;
  readonly cluster: string;
}

/**
 * Keeps the head of the emission order and defers the rest; what is deferred is derived again
 * next cycle. Only reclaims are capped: a cap on preemption would let one workload's access
 * depend on how many other preemptions fired.
 */
export function applyRails<A extends Railable>(
  actions: readonly A[],
  configuredCount: (cluster: string) => number,
  rails: Rails,
): RailedActions<A> {
  const reclaims = new Map<string, number>();
  const deferredByReclaimCap: A[] = [];
  const allowed = actions.filter((action) => {
    if (action.kind !== ActionKind.Reclaim) return true;
    const used = reclaims.get(action.cluster) ?? 0;
    if (used < reclaimCap(configuredCount(action.cluster), rails.reclaimCapFraction)) {
      reclaims.set(action.cluster, used + 1);
      return true;
    }
    deferredByReclaimCap.push(action);
    return false;
  });
  const limit = rails.maxActionsPerCycle > 0 ? rails.maxActionsPerCycle : allowed.length;
  return {
    kept: allowed.slice(0, limit),
    deferredByReclaimCap,
    deferredByMaxActions: allowed.slice(limit),
  };
}
