// Several roll-ups as one message between threads: their bytes in one buffer, which is transferred,
// and columns beside it. A buffer and an object per roll-up cost more than the bytes in them.

import type { RollupOrder } from '../engine-host/engine-host.ts';

export interface PackedRollups {
  /** One after the other. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly clusters: readonly string[];
  /** Where each one ends. */
  readonly ends: readonly number[];
  readonly guarded: readonly boolean[];
}

/** Copies the bytes: those of an order belong to whoever made it. */
export function packRollups(orders: readonly RollupOrder[]): PackedRollups {
  const ends: number[] = [];
  let length = 0;
  for (const { bytes } of orders) {
    length += bytes.length;
    ends.push(length);
  }
  const packed = new Uint8Array(length);
  for (const [at, { bytes }] of orders.entries()) {
    packed.set(bytes, ends[at]! - bytes.length);
  }
  return {
    bytes: packed,
    clusters: orders.map(({ cluster }) => cluster),
    ends,
    guarded: orders.map(({ isGuarded }) => isGuarded),
  };
}

export function* unpackRollups(packed: PackedRollups): Iterable<RollupOrder> {
  let start = 0;
  for (const [at, cluster] of packed.clusters.entries()) {
    const end = packed.ends[at]!;
    const bytes = packed.bytes.subarray(start, end);
    yield { cluster, bytes, isGuarded: packed.guarded[at] as boolean };
    start = end;
  }
}
