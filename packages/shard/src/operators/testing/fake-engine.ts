// The engine worker's side of roll-ups, answering as scripted; `hold` keeps answers back, as a busy
// worker does.

import { ClusterCapacityNeedsSchema, decode } from '@bigfleet/wire';
import type { RollupSink, RollupVerdict } from '../../rollup/rollup-sink.ts';

export interface Submitted {
  readonly cluster: string;
  readonly needCount: number;
  readonly digest: string;
}

export class FakeSink implements RollupSink {
  readonly submitted: Submitted[] = [];
  readonly unchangedClusters: string[] = [];
  /** What the next roll-ups get; `applied` when it is empty. */
  readonly script: (RollupVerdict | Error)[] = [];
  readonly #waiting: (() => void)[] = [];
  #isHeld = false;

  async submit(cluster: string, bytes: Uint8Array, digest: string): Promise<RollupVerdict> {
    const { needs } = decode(ClusterCapacityNeedsSchema, bytes, 'INVALID_ARGUMENT');
    this.submitted.push({ cluster, needCount: needs.length, digest });
    if (this.#isHeld) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const verdict = this.script.shift() ?? applied(needs.length);
    if (verdict instanceof Error) throw verdict;
    return verdict;
  }

  unchanged(cluster: string): void {
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
  return { kind: 'applied', rows, previousRows: 0, confirmedAfter: 0 };
}
