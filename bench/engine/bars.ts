// The bars that shapes share. Units of K on the median; the p99 at most half as much again.

import type { Bars } from '../harness/index.ts';

const MAX_STEADY_BYTES = 65_536;

export function fullBars(inK: number): Bars {
  return {
    'perK.p50': { max: inK },
    'perK.p99': { max: inK * 1.5 },
    'extra.recordShare': { max: 0.25 },
  };
}

export function steadyBars(inK: number): Bars {
  return {
    'perK.p50': { max: inK },
    'perK.p99': { max: inK * 1.5 },
    'extra.recordShare': { max: 0.05 },
    ...quietBars,
  };
}

/** Of every steady cycle in which demand is met. */
export const quietBars: Bars = {
  allocBytesPerOp: { max: MAX_STEADY_BYTES },
  'extra.touchedClusterShareMax': { max: 0.1 },
};

export const memoryBars: Bars = {
  'extra.columnBytesPerMachine': { max: 64 },
  'extra.bytesPerMachine': { max: 200 },
};
