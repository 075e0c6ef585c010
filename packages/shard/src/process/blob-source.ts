// Where executors get bootstrap blobs: from the operator of the cluster, or, for load tests without
// operators that render, a stub made here (--local-bootstrap).

import type { Clock } from '@bigfleet/base';
import {
  type BootstrapOutcome,
  type BootstrapRequests,
  isFresh,
} from '../bootstrap/bootstrap-requests.ts';
import type { BlobAnswer, BlobSource } from '../execute/ports.ts';

export function operatorBlobs(requests: BootstrapRequests, clock: Clock): BlobSource {
  return {
    pull: async (order, signal) => answerOf(await requests.pull({ ...order, signal }), clock),
  };
}

/** Nobody joins a cluster with it: the machine it goes to is a fake. */
export const localBlobs: BlobSource = {
  pull: ({ cluster, machineId }) =>
    Promise.resolve({
      kind: 'blob',
      userData: new TextEncoder().encode(`#local-bootstrap ${cluster} ${machineId}\n`),
      isExpired: () => false,
    }),
};

function answerOf(outcome: BootstrapOutcome, clock: Clock): BlobAnswer {
  switch (outcome.kind) {
    case 'blob': {
      const { blob } = outcome;
      return {
        kind: 'blob',
        userData: blob.userData.reveal(),
        isExpired: () => !isFresh(blob, clock.monotonicMs()),
      };
    }
    case 'refused':
    case 'held_off':
      return { kind: 'refused' };
    case 'no_session':
      return { kind: 'no_session' };
    case 'timeout':
    case 'cancelled':
      return { kind: 'timed_out' };
  }
}
