// What the reconcile thread measures of itself: lag, collections, heap. A module of its own, because
// it brings code that the first List need not wait for.

import {
  createDeltaBuffer,
  nodeThreadSource,
  startThreadProbe,
  threadDeltas,
} from '@bigfleet/telemetry';

export interface ThreadMeter {
  /** Since the last time. */
  take(): Float64Array;
}

export function startThreadMeter(): ThreadMeter {
  const deltas = createDeltaBuffer(threadDeltas);
  const probe = startThreadProbe(nodeThreadSource(), deltas.instruments);
  return {
    take: () => {
      probe.sample();
      return deltas.take();
    },
  };
}
