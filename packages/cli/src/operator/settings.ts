// From the flags of `bigfleet-operator` to its settings: every rule about values that go together. Each
// refusal names the flags, so that it can be fixed without reading further.

import { err, ok, parseClusterId, parseShardId, type Result } from '@bigfleet/base';
import type { LeaseSettings, OperatorSettings } from '@bigfleet/operator';
import { type FlagValues, isDialable, type Parsed } from '@bigfleet/process/flags';
import { parseListenAddress } from '@bigfleet/telemetry';
import { isTlsRequired } from '@bigfleet/wire';
import { BUILD_VERSION, type Env } from '../command.ts';
import { commaSeparated, reflectionWarnings } from '../kube-flags.ts';
import type { OperatorFlags } from './flags.ts';

const DEFAULT_ROLLUP_MS = 10_000;
const MIN_ROLLUP_MS = 100;
/** What the blob's life is shortened by on the way to the shard (kubernetes §4.1). */
const TOKEN_MARGIN_MS = 60_000;
const MIN_LEASE_MS = 3_000;
const MAX_LEASE_MS = 3_600_000;
const DNS_NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;

type Values = FlagValues<OperatorFlags>;

export interface OperatorCommand {
  readonly settings: OperatorSettings;
  readonly hasReflection: boolean;
}

export function operatorSettings(
  { values }: Parsed<OperatorFlags>,
  env: Env,
): Result<OperatorCommand, string> {
  const problem = valueProblem(values);
  if (problem !== undefined) return err(problem);
  const clusterId = parseClusterId(values['cluster-id']);
  if (!clusterId.ok) return err(`--cluster-id=${values['cluster-id']}: ${clusterId.error.problem}`);
  const metricsAddress = parseListenAddress(values['metrics-addr']);
  if (!metricsAddress.ok) return err(`--metrics-addr: ${metricsAddress.error}`);
  const settings: OperatorSettings = {
    clusterId: clusterId.value,
    shardAddress: values['shard-addr'],
    kubeconfig: values.kubeconfig,
    metricsAddress: metricsAddress.value,
    qps: values.qps,
    burst: values.burst,
    acknowledgeConcurrency: values['ack-concurrency'],
    rollupIntervalMs: values['rollup-interval'] || DEFAULT_ROLLUP_MS,
    bootstrapTemplateFile: values['bootstrap-template-file'],
    bootstrapAllowedKeys: commaSeparated(values['bootstrap-allowed-keys']),
    apiServerEndpoint: values['api-server-endpoint'],
    bootstrapToken: tokenSettings(values),
    lease: leaseSettings(values),
    tls: {
      cert: values['tls-cert'],
      key: values['tls-key'],
      ca: values['tls-ca'],
      requireTls: isTlsRequired({ requireTls: values['require-tls'], env }),
    },
    shardId: values['shard-id'],
    shardServerName: values['shard-server-name'],
    traceSamples: values['trace-samples'],
    hasDebugEndpoints: values['debug-endpoints'],
    build: { version: BUILD_VERSION, revision: env['BIGFLEET_REVISION'] ?? 'unknown' },
  };
  return ok({ settings, hasReflection: values.reflection });
}

function valueProblem(values: Values): string | undefined {
  if (values['cluster-id'] === '') return '--cluster-id is required';
  const shard = values['shard-addr'];
  if (shard === '') return '--shard-addr is required';
  if (!isDialable(shard)) {
    return `--shard-addr: ${JSON.stringify(shard)} is not host:port or unix:/path`;
  }
  if (values.burst < 1) return '--burst is at least 1';
  if (values['ack-concurrency'] < 1) return '--ack-concurrency is at least 1';
  const rollup = values['rollup-interval'];
  if (rollup !== 0 && rollup < MIN_ROLLUP_MS) return '--rollup-interval is at least 100ms, or 0';
  const shardId = values['shard-id'];
  const shardProblem = shardId === '' ? undefined : parseShardId(shardId);
  if (shardProblem?.ok === false) return `--shard-id=${shardId}: ${shardProblem.error.problem}`;
  return tokenProblem(values) ?? leaseProblem(values);
}

/** What is odd and no reason to refuse: a chart may render a value of a feature that is off. */
export function operatorWarnings({ settings, hasReflection }: OperatorCommand): readonly string[] {
  const { tls, shardId, shardServerName } = settings;
  const needsTls = tls.cert === '' && (shardId !== '' || shardServerName !== '');
  return [
    ...reflectionWarnings(hasReflection),
    ...(needsTls
      ? ['--shard-id and --shard-server-name have no effect: without TLS nobody is verified']
      : []),
  ];
}

function tokenProblem(values: Values): string | undefined {
  const minTtlMs = values['bootstrap-token-min-ttl'];
  if (minTtlMs <= TOKEN_MARGIN_MS) {
    return '--bootstrap-token-min-ttl is over 60s: a minute is kept for the way to the machine';
  }
  if (values['bootstrap-token-ttl'] < 2 * minTtlMs) {
    return (
      '--bootstrap-token-ttl is at least twice --bootstrap-token-min-ttl: a token is renewed at ' +
      'half of its life, and would be too short for a blob before that'
    );
  }
  return undefined;
}

function leaseProblem(values: Values): string | undefined {
  const durationMs = values['lease-duration'];
  if (durationMs < MIN_LEASE_MS || durationMs > MAX_LEASE_MS) {
    return '--lease-duration is from 3s to 1h';
  }
  const { 'lease-name': name, 'lease-namespace': namespace } = values;
  if (!DNS_NAME.test(name)) return `--lease-name: ${JSON.stringify(name)} is no object name`;
  if (namespace !== '' && !DNS_NAME.test(namespace)) {
    return `--lease-namespace: ${JSON.stringify(namespace)} is no namespace`;
  }
  return undefined;
}

function tokenSettings(values: Values): OperatorSettings['bootstrapToken'] {
  if (!values['bootstrap-token']) return undefined;
  return {
    ttlMs: values['bootstrap-token-ttl'],
    minTtlMs: values['bootstrap-token-min-ttl'],
  };
}

function leaseSettings(values: Values): LeaseSettings | undefined {
  if (!values['leader-elect']) return undefined;
  return {
    name: values['lease-name'],
    namespace: values['lease-namespace'],
    durationMs: values['lease-duration'],
  };
}
