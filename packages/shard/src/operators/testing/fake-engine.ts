// The engine's side of roll-ups: refuses those of another cluster and answers the others as scripted;
// `hold` keeps answers back, as a busy worker does.

import { ClusterCapacityNeedsSchema, decode } from '@bigfleet/wire';
import type { RollupEngine, RollupOrder, RollupVerdict } from '../../rollup/admission.ts';

export interface Submitted {
  readonly cluster: string;
  readonly needCount: number;
}

export class FakeEngine implements RollupEngine {
  readonly submitted: Submitted[] = [];
  readonly unchangedClusters: string[] = [];
  /** What the next roll-ups get; `applied` when it is empty. */
  readonly script: (RollupVerdict | Error)[] = [];
  readonly #waiting: (() => void)[] = [];
  #isHeld = false;

  async applyRollup({ cluster, bytes }: RollupOrder): Promise<RollupVerdict> {
    const { clusterId, needs } = decode(ClusterCapacityNeedsSchema, bytes, 'INVALID_ARGUMENT');
    if (clusterId !== '' && clusterId !== cluster) {
      return { kind: 'rejected', code: 'cluster_mismatch', detail: `clusterId: ${clusterId}` };
    }
    this.submitted.push({ cluster, needCount: needs.length });
    if (this.#isHeld) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const verdict = this.script.shift() ?? applied(needs.length);
    if (verdict instanceof Error) throw verdict;
    return verdict;
  }

  markReported(cluster: string): void {
    this.unchangedClusters.push(cluster);
  }

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

function applied(rows: number): RollupVerdict {
  return { kind: 'applied', rows, previousRows: 0, confirmedAfter: 0, demand: undefined };
}
