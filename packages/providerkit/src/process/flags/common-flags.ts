// The flags that every provider has (provider-contract §17.1), with their defaults. Those that depend on the
// provider (its label, its backends, its price refresh) come from the definition.

import { LOG_FORMATS, LOG_LEVELS } from '@bigfleet/telemetry';
import type { FlagSpec } from './flag-table.ts';

export const READINESS_SOURCES = ['auto', 'kubeconfig-dir', 'agent', 'hook', 'none'] as const;
export type ReadinessSourceName = (typeof READINESS_SOURCES)[number];

const MINUTE_MS = 60_000;
const MAX_SEED_COUNT = 1_000_000;

export interface CommonFlagOptions {
  /** Default of `--provider`. */
  readonly label: string;
  /** Name of the flag that chooses the backend, and the real one's name in it. */
  readonly backendFlag: string;
  readonly realBackend: string;
  /** Undefined: this provider has no live prices, and no such flag. */
  readonly priceRefreshMs: number | undefined;
}

type Text = Extract<FlagSpec, { kind: 'text' }>;
type Switch = Extract<FlagSpec, { kind: 'switch' }>;
type Duration = Extract<FlagSpec, { kind: 'duration' }>;
type Count = Extract<FlagSpec, { kind: 'count' }>;
type Choice<Values extends readonly string[]> = Extract<FlagSpec, { kind: 'choice' }> & {
  readonly values: Values;
};

/** Besides these, the table holds `--<x>-backend` and, with live prices, `--price-refresh`. */
export type CommonFlags = {
  readonly addr: Text;
  readonly provider: Text;
  readonly state: Text;
  readonly 'allow-ephemeral-state': Switch;
  readonly 'seed-count': Count;
  readonly 'use-fake-backend': Switch;
  readonly offerings: Text;
  readonly 'reconcile-interval': Duration;
  readonly 'metrics-addr': Text;
  readonly reflection: Switch;
  readonly 'require-fence': Switch;
  readonly 'strict-tokens': Switch;
  readonly 'failed-cleanup-after': Duration;
  readonly 'shutdown-grace': Duration;
  readonly 'readiness-source': Choice<typeof READINESS_SOURCES>;
  readonly 'log-format': Choice<typeof LOG_FORMATS>;
  readonly 'log-level': Choice<typeof LOG_LEVELS>;
  readonly 'tls-cert': Text;
  readonly 'tls-key': Text;
  readonly 'tls-ca': Text;
  readonly 'require-tls': Switch;
};

export function commonFlags(options: CommonFlagOptions): CommonFlags {
  const { label, backendFlag, realBackend, priceRefreshMs } = options;
  return {
    addr: text(':9000', 'host:port', 'Where gRPC listens: host:port, :port or unix:/path.sock.'),
    provider: text(label, 'label', 'Stamped on every host and machine id, e.g. aws-us-east-1.'),
    state: text('', 'path', 'Durable state, a file or a directory; empty keeps it in memory only.'),
    'allow-ephemeral-state': off('Let a real backend run without --state: a restart then forgets.'),
    'seed-count': {
      kind: 'count',
      default: 32,
      max: MAX_SEED_COUNT,
      help: 'Speculative slots of the built-in mix, when no offerings file is given.',
    },
    'use-fake-backend': off('Run the in-memory substrate instead of real machines.'),
    [backendFlag]: {
      kind: 'choice',
      values: ['auto', realBackend, 'fake'],
      default: 'auto',
      help: 'Which backend; auto takes the real one when it is configured, else refuses to start.',
    },
    offerings: text('', 'file', 'JSON array of offerings, the whole quota of this provider.'),
    'reconcile-interval': duration(2 * MINUTE_MS, 'Between two looks at the substrate; 0 is off.'),
    ...(priceRefreshMs === undefined
      ? {}
      : {
          'price-refresh': duration(priceRefreshMs, 'Between two looks at live prices; 0 is off.'),
        }),
    'metrics-addr': text(':9090', 'host:port', 'HTTP /metrics, /healthz, /readyz; empty is off.'),
    reflection: { kind: 'switch', default: true, help: 'Serve gRPC reflection.' },
    'require-fence': off('Refuse mutations without a fencing token.'),
    'strict-tokens': off('Refuse fencing tokens with a negative epoch or sequence.'),
    'failed-cleanup-after': duration(
      10 * MINUTE_MS,
      'How long a Failed machine stays before it is cleaned up; 0 is never.',
    ),
    'shutdown-grace': duration(
      25_000,
      'How long work under way may take after SIGTERM; five seconds below the grace of the pod.',
    ),
    'readiness-source': choice(READINESS_SOURCES, 'auto', 'Who confirms that a node is Ready.'),
    'log-format': choice(LOG_FORMATS, 'text', 'How log lines look.'),
    'log-level': choice(LOG_LEVELS, 'info', 'Least severe log line that is written.'),
    'tls-cert': text('', 'file', 'Certificate; with --tls-key TLS, with --tls-ca too mutual TLS.'),
    'tls-key': text('', 'file', 'Private key of the certificate.'),
    'tls-ca': text('', 'file', 'CA that client certificates must come from.'),
    'require-tls': off('Refuse to start without mutual TLS; does not apply to unix sockets.'),
  };
}

/** For providers that deliver the bootstrap blob through a hook in the image. */
export const bootstrapFlags: {
  readonly 'base-user-data': Text;
  readonly 'bootstrap-hook': Text;
} = {
  'base-user-data': text('', 'file', 'Generic boot data, given to every machine at creation.'),
  'bootstrap-hook': text(
    '/opt/bigfleet/bootstrap',
    'path',
    'Executable in the image that applies the bootstrap blob.',
  ),
};

function text(value: string, placeholder: string, help: string): Text {
  return { kind: 'text', default: value, placeholder, help };
}

function off(help: string): Switch {
  return { kind: 'switch', default: false, help };
}

function duration(ms: number, help: string): Duration {
  return { kind: 'duration', default: ms, help };
}

function choice<const Values extends readonly string[]>(
  values: Values,
  value: Values[number],
  help: string,
): Choice<Values> {
  return { kind: 'choice', values, default: value, help };
}
