// The flags that every provider has (provider-contract §17.1), with their defaults. Those that depend on the
// provider (its label, its backends, its price refresh) come from the definition.

import {
  duration,
  type Flag,
  formatDuration,
  oneOf,
  text,
  toggle,
  wholeNumber,
} from '@bigfleet/process/flags';
import { LOG_FORMATS, LOG_LEVELS } from '@bigfleet/telemetry';
import type { ProviderNames } from './definition.ts';

export const READINESS_SOURCES = ['auto', 'kubeconfig-dir', 'agent', 'hook', 'none'] as const;
export type ReadinessSourceName = (typeof READINESS_SOURCES)[number];

const MAX_SEED_COUNT = 1_000_000;

/** Besides these, the table holds `--<x>-backend` and, with live prices, `--price-refresh`. */
export type CommonFlags = {
  readonly addr: Flag<string>;
  readonly provider: Flag<string>;
  readonly state: Flag<string>;
  readonly 'allow-ephemeral-state': Flag<boolean>;
  readonly 'seed-count': Flag<number>;
  readonly 'use-fake-backend': Flag<boolean>;
  readonly offerings: Flag<string>;
  readonly 'reconcile-interval': Flag<number>;
  readonly 'metrics-addr': Flag<string>;
  readonly reflection: Flag<boolean>;
  readonly 'require-fence': Flag<boolean>;
  readonly 'strict-tokens': Flag<boolean>;
  readonly 'failed-cleanup-after': Flag<number>;
  readonly 'shutdown-grace': Flag<number>;
  readonly 'readiness-source': Flag<ReadinessSourceName>;
  readonly 'log-format': Flag<(typeof LOG_FORMATS)[number]>;
  readonly 'log-level': Flag<(typeof LOG_LEVELS)[number]>;
  readonly 'tls-cert': Flag<string>;
  readonly 'tls-key': Flag<string>;
  readonly 'tls-ca': Flag<string>;
  readonly 'require-tls': Flag<boolean>;
};

/** Without `priceRefreshMs` this provider has no live prices, and no such flag. */
export function commonFlags(names: ProviderNames, priceRefreshMs: number | undefined): CommonFlags {
  const { label, backendFlag, realBackend } = names;
  return {
    addr: text(':9000', 'Where gRPC listens: host:port, :port or unix:/path.sock.', '<host:port>'),
    provider: text(label, 'Stamped on every host and machine id, e.g. aws-us-east-1.', '<label>'),
    state: text(
      '',
      'Durable state, a file or a directory; empty keeps it in memory only.',
      '<path>',
    ),
    'allow-ephemeral-state': toggle(
      false,
      'Let a real backend run without --state: a restart then forgets.',
    ),
    'seed-count': {
      ...wholeNumber(
        32,
        'Speculative slots of the built-in mix, when no offerings file is given.',
        MAX_SEED_COUNT,
      ),
      form: '<count>',
    },
    'use-fake-backend': toggle(false, 'Run the in-memory substrate instead of real machines.'),
    [backendFlag]: oneOf(
      'auto',
      ['auto', realBackend, 'fake'],
      'Which backend; auto takes the real one when it is configured, else refuses to start.',
    ),
    offerings: text('', 'JSON array of offerings, the whole quota of this provider.', '<file>'),
    'reconcile-interval': duration('2m', 'Between two looks at the substrate; 0 is off.'),
    ...(priceRefreshMs === undefined
      ? {}
      : {
          'price-refresh': duration(
            formatDuration(priceRefreshMs),
            'Between two looks at live prices; 0 is off.',
          ),
        }),
    'metrics-addr': text(':9090', 'HTTP /metrics, /healthz, /readyz; empty is off.', '<host:port>'),
    reflection: toggle(true, 'Serve gRPC reflection.'),
    'require-fence': toggle(false, 'Refuse mutations without a fencing token.'),
    'strict-tokens': toggle(false, 'Refuse fencing tokens with a negative epoch or sequence.'),
    'failed-cleanup-after': duration(
      '10m',
      'How long a Failed machine stays before it is cleaned up; 0 is never.',
    ),
    'shutdown-grace': duration(
      '25s',
      'How long work under way may take after SIGTERM; five seconds below the grace of the pod.',
    ),
    'readiness-source': oneOf('auto', READINESS_SOURCES, 'Who confirms that a node is Ready.'),
    'log-format': oneOf('text', LOG_FORMATS, 'How log lines look.'),
    'log-level': oneOf('info', LOG_LEVELS, 'Least severe log line that is written.'),
    'tls-cert': text(
      '',
      'Certificate; with --tls-key TLS, with --tls-ca too mutual TLS.',
      '<file>',
    ),
    'tls-key': text('', 'Private key of the certificate.', '<file>'),
    'tls-ca': text('', 'CA that client certificates must come from.', '<file>'),
    'require-tls': toggle(
      false,
      'Refuse to start without mutual TLS; does not apply to unix sockets.',
    ),
  };
}

/** For providers that deliver the bootstrap blob through a hook in the image. */
export const bootstrapFlags: {
  readonly 'base-user-data': Flag<string>;
  readonly 'bootstrap-hook': Flag<string>;
} = {
  'base-user-data': text('', 'Generic boot data, given to every machine at creation.', '<file>'),
  'bootstrap-hook': text(
    '/opt/bigfleet/bootstrap',
    'Executable in the image that applies the bootstrap blob.',
    '<path>',
  ),
};
