// Safety rails between decision and execution: they bound how fast, never what is decided. The one
// place of the reclaim cap: the shard asks it action by action, the simulator list by list.
// Off in the library's zero value, because simulations exist to show the pathologies that
// rails would damp; every deployed entry point turns them on.

import { assert } from '@bigfleet/base';
import { type Action, ActionKind, type ActionKindCode } from '../model/action.ts';

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

/** Why a rail defers an action; undefined lets it pass. */
export type RailVerdict = 'deferred_reclaim_cap' | 'deferred_max_actions' | undefined;

/**
 * The rails over the actions of one cycle: the head of the emission order passes and the rest is
 * deferred, to be derived again next cycle. The reclaim cap comes first, then the limit of actions.
 * Only reclaims are capped: a cap on preemption would let one workload's access depend on how many
 * other preemptions fired.
 *
 * Cost: a comparison or two per action, eight bytes and four per cluster; no object per action,
 * because a cycle may decide half a million.
 */
export class RailWalk {
  readonly #caps: Float64Array;
  readonly #used: Int32Array;
  readonly #limit: number;
  #passed = 0;

  constructor(
    clusters: readonly string[],
    configuredCount: (cluster: string) => number,
    { reclaimCapFraction, maxActionsPerCycle }: Rails,
  ) {
    assert(!Number.isNaN(reclaimCapFraction), 'a cap that is no number caps nothing');
    this.#caps = Float64Array.from(clusters, (cluster) =>
      reclaimCap(configuredCount(cluster), reclaimCapFraction),
    );
    this.#used = new Int32Array(clusters.length);
    this.#limit = maxActionsPerCycle > 0 ? maxActionsPerCycle : Number.POSITIVE_INFINITY;
  }

  /** To be asked once for each action, in order. `cluster` is a place in the list of clusters. */
  judge(kind: ActionKindCode, cluster: number): RailVerdict {
    if (kind === ActionKind.Reclaim) {
      // A comparison with a cap that is not there would let every reclaim pass.
      assert(cluster >= 0 && cluster < this.#used.length, 'a reclaim names its cluster');
      const used = this.#used[cluster]!;
      if (used >= this.#caps[cluster]!) return 'deferred_reclaim_cap';
      this.#used[cluster] = used + 1;
    }
    if (this.#passed >= this.#limit) return 'deferred_max_actions';
    this.#passed += 1;
    return undefined;
  }
}

export interface RailedActions<A> {
  readonly kept: readonly A[];
  readonly deferredByReclaimCap: readonly A[];
  readonly deferredByMaxActions: readonly A[];
}

/** The walk over a list. */
export function applyRails<A extends Pick<Action, 'kind' | 'cluster'>>(
  actions: readonly A[],
  configuredCount: (cluster: string) => number,
  rails: Rails,
): RailedActions<A> {
  const clusters = [...new Set(actions.map(({ cluster }) => cluster))];
  const walk = new RailWalk(clusters, configuredCount, rails);
  const verdicts = Map.groupBy(actions, ({ kind, cluster }) =>
    walk.judge(kind, clusters.indexOf(cluster)),
  );
  return {
    kept: verdicts.get(undefined) ?? [],
    deferredByReclaimCap: verdicts.get('deferred_reclaim_cap') ?? [],
    deferredByMaxActions: verdicts.get('deferred_max_actions') ?? [],
  };
}
