// The obvious model of fencing, and tokens to try it with. Accepted means: the first of its pair,
// or strictly newer than the last accepted one. Every generated component is floored at 0: a
// strict provider refuses a negative one as an argument (B211) before its fence sees it.

import type { Random } from '@bigfleet/base';

export interface Stamp {
  readonly epoch: bigint;
  readonly sequence: bigint;
}

/** The mark of one (shard, machine) pair. */
export class PairOracle {
  mark: Stamp | undefined;

  /** Whether a correct provider accepts; the mark advances exactly then. */
  accepts(stamp: Stamp): boolean {
    const { mark } = this;
    const isNewer =
      mark === undefined ||
      stamp.epoch > mark.epoch ||
      (stamp.epoch === mark.epoch && stamp.sequence > mark.sequence);
    if (isNewer) this.mark = stamp;
    return isNewer;
  }
}

/** B312: near the running maximum; the first one in 0..2. */
export function nearMark(random: Random, mark: Stamp | undefined): Stamp {
  if (mark === undefined) return { epoch: between(random, 0, 2), sequence: between(random, 0, 2) };
  return {
    epoch: floored(mark.epoch + between(random, -1, 2)),
    sequence: floored(mark.sequence + between(random, -3, 4)),
  };
}

type Generator = (random: Random, mark: Stamp) => Stamp;

/** B1201: six ways to be near a mark, or far from it. */
const generators: readonly Generator[] = [
  (_random, mark) => mark,
  (random, { epoch, sequence }) => ({ epoch, sequence: sequence + between(random, -2, 2) }),
  (random, { epoch, sequence }) => ({
    epoch: epoch + between(random, -1, 1),
    sequence: sequence + between(random, -2, 2),
  }),
  (random, { epoch }) => ({ epoch: epoch + 1n, sequence: between(random, 0, 2) }),
  (random, { epoch, sequence }) => ({ epoch, sequence: sequence + between(random, 1, 3) }),
  (random) => ({ epoch: between(random, 1, 6), sequence: between(random, 0, 7) }),
];

const start: Stamp = { epoch: 1n, sequence: 1n };

export function biasedToMark(random: Random, mark: Stamp | undefined): Stamp {
  const generate = generators[random.below(generators.length)];
  const { epoch, sequence } = generate?.(random, mark ?? start) ?? start;
  return { epoch: floored(epoch), sequence: floored(sequence) };
}

/** Inclusive on both ends. */
function between(random: Random, low: number, high: number): bigint {
  return BigInt(low + random.below(high - low + 1));
}

function floored(value: bigint): bigint {
  return value < 0n ? 0n : value;
}
