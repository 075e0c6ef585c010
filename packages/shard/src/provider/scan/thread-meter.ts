// What the reconcile thread measures of itself: lag, collections, heap. A module of its own, because
// it brings code that the first List need not wait for. Measuring takes time, so no answer waits
// for it: what is found goes out with the next one.

import {
  createDeltaBuffer,
  nodeThreadSource,
  startThreadProbe,
  threadDeltas,
} from '@bigfleet/telemetry';

export interface ThreadMeter {
  /** What was found since the last time. */
  take(): Float64Array;
  /** Behind an answer, never in front of it. */
  look(): void;
}

export function startThreadMeter(): ThreadMeter {
  const deltas = createDeltaBuffer(threadDeltas);
  const probe = startThreadProbe(nodeThreadSource(), deltas.instruments);
  probe.sample();
  return { take: () => deltas.take(), look: () => probe.sample() };
}
