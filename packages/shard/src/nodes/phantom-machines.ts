// Machines at Ready whose Node does not serve, as the operators report them (wire-additions §2). Shown to
// readers and nothing else: what a machine is worth is its provider's word, and a cluster whose kubelets are
// cut off must not lead to purchases. The set lives in its session and ends with it.
//
// An operator may report its own cluster's machines only. A shard that has just started knows no machine
// yet, and the operator says nothing again while its set stays the same: until the inventory is whole, ids
// that it does not hold are kept, and a reader is shown those that turned out to be the cluster's.
// Bound: 2,000 ids per session, of at most 1,024 characters.

import type { SampledMessage } from '@bigfleet/telemetry';
import type { SessionMetrics } from '../session/metrics.ts';
import type { BoundMachines } from './node-view.ts';

export const MAX_PHANTOMS = 2_000;
const MAX_ID_LENGTH = 1_024;

export interface PhantomMachinesOptions {
  readonly machines: Pick<BoundMachines, 'isBoundTo'>;
  readonly isInventoryWhole: () => boolean;
  readonly framesDropped: SessionMetrics['framesDropped'];
  readonly ignored: SampledMessage<'cluster' | 'reason', 'detail'>;
}

/** The part of a session that this file writes. */
export interface PhantomHolder {
  readonly cluster: string;
  phantomMachineIds: readonly string[];
}

export class PhantomMachines {
  readonly #options: PhantomMachinesOptions;

  constructor(options: PhantomMachinesOptions) {
    this.#options = options;
  }

  /** Replaces the set. One that is too long changes nothing. */
  report(session: PhantomHolder, ids: readonly string[]): void {
    const { cluster } = session;
    if (ids.length > MAX_PHANTOMS) {
      this.#drop(cluster, 'oversized_node_identity', ids.length);
      return;
    }
    const own = ids.filter((id) => this.#isAcceptable(id, cluster));
    const foreignCount = ids.length - own.length;
    if (foreignCount > 0) this.#drop(cluster, 'foreign_node_identity', foreignCount);
    session.phantomMachineIds = [...new Set(own)].sort();
  }

  /** Those that are bound to the cluster now, sorted. */
  of({ cluster, phantomMachineIds }: Readonly<PhantomHolder>): string[] {
    const { machines } = this.#options;
    return phantomMachineIds.filter((id) => machines.isBoundTo(id, cluster));
  }

  #isAcceptable(id: string, cluster: string): boolean {
    const { machines, isInventoryWhole } = this.#options;
    if (id === '' || id.length > MAX_ID_LENGTH) return false;
    return machines.isBoundTo(id, cluster) || !isInventoryWhole();
  }

  #drop(
    cluster: string,
    reason: 'foreign_node_identity' | 'oversized_node_identity',
    count: number,
  ): void {
    this.#options.framesDropped[reason].inc(count);
    this.#options.ignored.log({ cluster, reason, detail: count });
  }
}
