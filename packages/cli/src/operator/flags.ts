// The flags of `bigfleet-operator` (kubernetes §6.1). The chart renders from this list and a test compares
// the two.

import { duration, text, toggle, wholeNumber } from '@bigfleet/process/flags';
import { clusterFlags, kubeProcessFlags } from '../kube-flags.ts';
import { ADDRESS, tlsFlags } from '../process-flags.ts';

export const operatorFlags = {
  'cluster-id': text('', 'identity of this cluster; required', '<id>'),
  'shard-addr': text('', 'the shard that serves this cluster; required', ADDRESS),
  ...clusterFlags,
  'metrics-addr': text(':8770', 'HTTP: /metrics, /healthz, /readyz; "0" turns it off', ADDRESS),
  'ack-concurrency': wholeNumber(16, 'requests that are acknowledged at once', 1_000),
  'rollup-interval': duration('0', 'between two roll-ups; 0 is 10s; for load tests'),
  'bootstrap-template-file': text('', 'template of the bootstrap blob; empty is a stub', '<file>'),
  'bootstrap-allowed-keys': text('', 'requirement keys that it can serve; empty is all', '<a,b>'),
  'api-server-endpoint': text(
    '',
    'this cluster as machines reach it, for templates; empty is as this process does',
    '<url>',
  ),
  'bootstrap-token': toggle(false, 'mint join tokens for the template (needs create on secrets)'),
  'bootstrap-token-ttl': duration('30m', 'life of a join token; renewed at half of it'),
  'bootstrap-token-min-ttl': duration('300s', 'least life left in a blob'),
  'leader-elect': toggle(false, 'dial only while holding a Lease; for more than one replica'),
  'lease-name': text('bigfleet-operator', 'name of that Lease', '<name>'),
  'lease-namespace': text('', 'its namespace; empty is the own one', '<name>'),
  'lease-duration': duration('15s', 'until others may take it from a silent holder'),
  'shard-id': text('', 'required identity of the shard; empty is any shard', '<id>'),
  'shard-server-name': text(
    '',
    "name in the shard's certificate; empty is the host of --shard-addr",
    '<name>',
  ),
  ...tlsFlags,
  ...kubeProcessFlags,
};

export type OperatorFlags = typeof operatorFlags;
