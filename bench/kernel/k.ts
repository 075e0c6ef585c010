// K, the calibration kernel: what one pass over half a million machines costs on this machine,
// now. Bars are stated in K so that they mean the same on a slow laptop and on a fast server.
//
// NEVER TUNED. A faster, slower or "cleaner" K silently moves every bar and every baseline, so
// this file stands alone (own generator, no imports from the product), its inputs and outputs are
// checked against a golden value at every use, and k.test.ts pins the text of its functions.
// Column types are those of the engine's store (cluster Int32, class Uint32). K is the minimum of
// 200 passes: minima repeat between processes, medians do not.

export const MACHINE_COUNT = 500_000;
export const CLUSTER_COUNT = 50;
export const CLASS_COUNT = 100;
export const PASS_COUNT = 200;
/** FNV-1a over both input columns and the counts; written down once, never recomputed. */
export const GOLDEN_CHECKSUM = 0x3caa_b460;

const SEED = 0x00c0_ffee;

export interface KernelColumns {
  readonly cluster: Int32Array;
  readonly machineClass: Uint32Array;
  readonly counts: Uint32Array;
}

export function buildColumns(): KernelColumns {
  const cluster = new Int32Array(MACHINE_COUNT);
  const machineClass = new Uint32Array(MACHINE_COUNT);
  let state = SEED;
  const below = (bound: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
  for (let machine = 0; machine < MACHINE_COUNT; machine++) {
    cluster[machine] = below(CLUSTER_COUNT);
    machineClass[machine] = below(CLASS_COUNT);
  }
  return { cluster, machineClass, counts: new Uint32Array(CLUSTER_COUNT * CLASS_COUNT) };
}

export function countPass(
  cluster: Int32Array,
  machineClass: Uint32Array,
  counts: Uint32Array,
): void {
  counts.fill(0);
  for (let machine = 0; machine < cluster.length; machine++) {
    counts[cluster[machine]! * 100 + machineClass[machine]!]!++;
  }
}

export function checksum({ cluster, machineClass, counts }: KernelColumns): number {
  let hash = 0x811c9dc5;
  for (const column of [cluster, machineClass, counts]) {
    for (let index = 0; index < column.length; index++) {
      hash = Math.imul(hash ^ column[index]!, 0x01000193);
    }
  }
  return hash >>> 0;
}

/** K in milliseconds. Throws when the kernel no longer computes what it always computed. */
export function measureK(): number {
  const columns = buildColumns();
  let minimumMs = Number.POSITIVE_INFINITY;
  for (let pass = 0; pass < PASS_COUNT; pass++) {
    const startMs = performance.now();
    countPass(columns.cluster, columns.machineClass, columns.counts);
    minimumMs = Math.min(minimumMs, performance.now() - startMs);
  }
  const seen = checksum(columns);
  if (seen !== GOLDEN_CHECKSUM) {
    throw new Error(
      `calibration kernel changed: checksum 0x${seen.toString(16)}, golden 0x${GOLDEN_CHECKSUM.toString(16)}`,
    );
  }
  return minimumMs;
}
