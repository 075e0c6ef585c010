// The flags of `bigfleet dashboard`. The chart renders from this list and a test compares the two.

import { bytes, text, texts, toggle, wholeNumber } from '@bigfleet/process/flags';
import { ADDRESS, logFlags, tlsFlags } from '../process-flags.ts';

/** The rack label of the workload catalogues (engine §11.3). */
export const RACK_LABEL = 'topology.bigfleet/rack';

export const dashboardFlags = {
  listen: text(
    ':8760',
    'HTTP, plaintext: web app, API, /metrics, /healthz, /readyz; put an authenticating proxy in front',
    ADDRESS,
  ),
  shard: texts('a shard to follow, by its id', '<id=addr>'),
  coordinator: text('', 'follow the shards of its registry; several replicas with commas', ADDRESS),
  'records-dir': texts("a shard's decision records and traces, for what-if", '<shard=dir>'),
  kubeconfig: texts('access to a cluster, to find the need of a Pod', '<cluster=file>'),
  team: texts('whose clusters are whose, the first that matches; * is any text', '<team=pattern>'),
  conformance: texts(
    'the report that bfconformance --out wrote of a provider',
    '<provider=report.json>',
  ),
  simulated: toggle(false, 'mark every page: the supply is simulated'),
  'rack-label': texts(`label of a machine's rack, the first that it has; ${RACK_LABEL}`, '<key>'),
  'web-dir': text('', 'the built web app; empty is the one beside this program', '<dir>'),
  'allowed-host': texts('name of a proxy in front of a loopback --listen', '<host>'),
  'max-streams': wholeNumber(256, 'open pages at once', 10_000),
  'history-bytes': bytes('64Mi', 'memory for pictures of past moments; 0 keeps none'),
  'records-bytes': bytes('64Mi', 'memory for decision records; older ones are asked of the shard'),
  ...tlsFlags,
  'require-tls': toggle(false, 'refuse to start without mTLS; also BIGFLEET_REQUIRE_TLS=1'),
  ...logFlags,
};

export type DashboardFlags = typeof dashboardFlags;
