// The flags of `bigfleet all-in-one` (coordinator §12.1): two listeners of each kind, one of
// everything else.

import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from '@bigfleet/telemetry';
import { type Flag, oneOf, text, toggle } from '@bigfleet/process/flags';

export type AllInOneFlags = {
  readonly 'shard-listen': Flag<string>;
  readonly 'coordinator-listen': Flag<string>;
  readonly 'raft-bind': Flag<string>;
  readonly 'shard-metrics-addr': Flag<string>;
  readonly 'coordinator-metrics-addr': Flag<string>;
  readonly 'data-dir': Flag<string>;
  readonly 'shard-id': Flag<string>;
  readonly 'coordinator-id': Flag<string>;
  readonly 'tls-cert': Flag<string>;
  readonly 'tls-key': Flag<string>;
  readonly 'tls-ca': Flag<string>;
  readonly 'require-tls': Flag<boolean>;
  readonly 'log-format': Flag<LogFormat>;
  readonly 'log-level': Flag<LogLevel>;
  readonly 'trace-samples': Flag<string>;
  readonly 'debug-endpoints': Flag<boolean>;
  readonly reflection: Flag<boolean>;
};

const ADDRESS = '<host:port>';

export const allInOneFlags: AllInOneFlags = {
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
  'tls-cert': text('', 'certificate chain; all three or none', '<file>'),
  'tls-key': text('', 'its key', '<file>'),
  'tls-ca': text('', 'the one trust root', '<file>'),
  'require-tls': toggle(false, 'refuse to start without mTLS; also BIGFLEET_REQUIRE_TLS=1'),
  'log-format': oneOf('text', LOG_FORMATS, 'of the log on stderr'),
  'log-level': oneOf('info', LOG_LEVELS, 'least level that is logged'),
  'trace-samples': text('', "write the shard's raw cycle durations to this file", '<file>'),
  'debug-endpoints': toggle(false, 'profiles on the HTTP ports'),
  reflection: toggle(false, 'gRPC server reflection'),
};
