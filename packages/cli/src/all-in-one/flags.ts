// The flags of `bigfleet all-in-one` (coordinator §12.1): two listeners of each kind, one of
// everything else.

import { text, toggle } from '@bigfleet/process/flags';
import { ADDRESS, processFlags } from '../process-flags.ts';

export const allInOneFlags = {
  'shard-listen': text(':7780', 'gRPC of the shard', ADDRESS),
  'coordinator-listen': text(':7790', 'gRPC of the coordinator', ADDRESS),
  'raft-bind': text(':7791', 'accepted and not used: one replica has no peers', ADDRESS),
  'shard-metrics-addr': text(':8780', 'HTTP of the shard; "0" turns it off', ADDRESS),
  'coordinator-metrics-addr': text(
    ':8790',
    'HTTP of the coordinator; the same address is served once, "0" turns it off',
    ADDRESS,
  ),
  'data-dir': text('./bigfleet-data', 'holds coord/ and shard/', '<dir>'),
  'shard-id': text('shard-0', 'identity of the shard', '<id>'),
  'coordinator-id': text('node-1', 'identity of the coordinator', '<id>'),
  ...processFlags,
  'trace-samples': text('', "write the shard's raw cycle durations to this file", '<file>'),
  'debug-endpoints': toggle(false, 'profiles on the HTTP ports'),
};
