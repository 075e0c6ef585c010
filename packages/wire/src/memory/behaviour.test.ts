// Proves that the in-memory transport behaves as the shared suite says, under virtual time: on a
// calm network, and on one where calls overtake each other and every window is tiny.

import { describeTransport } from '../testing/behaviour/describe-transport.ts';
import { openVirtualWorld } from '../testing/behaviour/virtual-world.ts';
import { scriptedFaults } from './faults.ts';

describeTransport('memory transport', openVirtualWorld({ seed: 'behaviour' }));

describeTransport(
  'memory transport, jittery and narrow',
  openVirtualWorld({
    seed: 'narrow',
    settings: { maxMessageBytes: 2_048, windowBytes: 64 },
    faults: scriptedFaults([], {
      latency: { minMs: 0.1, maxMs: 8, tailProbability: 0.05, tailMs: 40 },
    }),
  }),
);
