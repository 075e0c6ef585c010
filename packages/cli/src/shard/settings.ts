// From the flags of `bigfleet shard` to its settings: every rule about values that go together. Each
// refusal names the flags, so that it can be fixed without reading further.

import path from 'node:path';
import { err, ok, parseShardId, type Result } from '@bigfleet/base';
import {
  type FakeSettings,
  type ProcessSettings,
  type ProviderChoice,
  type ProviderTarget,
  targetsProblem,
} from '@bigfleet/shard';
import { parseListenAddress } from '@bigfleet/telemetry';
import {
  type FlagValues,
  isDialable,
  isUnspecified,
  parseDuration,
  type Parsed,
} from '@bigfleet/process/flags';
import { BUILD_VERSION, type Env } from '../command.ts';
import { tlsSettings } from '../process-flags.ts';
import { FAKE_ONLY, type ShardFlags } from './flags.ts';

/** Tests report this often; production never below seconds. */
const MIN_HEARTBEAT_MS = 100;
/** Providers of our own kit end a connection that pings faster (provider-contract §14). */
const MIN_KEEPALIVE_MS = 30_000;
const MIN_KEEPALIVE_TIMEOUT_MS = 1_000;

type Values = FlagValues<ShardFlags>;

export interface ShardCommand {
  readonly settings: ProcessSettings;
  /** Undefined: the shard runs alone. */
  readonly coordinator: CoordinatorSettings | undefined;
  /** What is odd but no reason to refuse; for the log. */
  readonly warnings: readonly string[];
}

export interface CoordinatorSettings {
  readonly address: string;
  /** Where others dial this shard. */
  readonly shardAddress: string;
  readonly intervalMs: number;
}

export function shardSettings(parsed: Parsed<ShardFlags>, env: Env): Result<ShardCommand, string> {
  const { values } = parsed;
  const problem = valueProblem(parsed);
  if (problem !== undefined) return err(problem);
  const metricsAddress = parseListenAddress(values['metrics-addr']);
  if (!metricsAddress.ok) return err(`--metrics-addr: ${metricsAddress.error}`);
  const warnings: string[] = [];
  if (values['local-bootstrap'] && !values['fake-provider']) {
    warnings.push(
      '--local-bootstrap: real machines get a stub and join no cluster; load tests only',
    );
  }
  const unnamed = unnamedProblem(values);
  if (unnamed !== undefined) warnings.push(unnamed);
  const providers = providerChoice(values, createLatency(env, warnings));
  if (!providers.ok) return providers;
  const settings: ProcessSettings = {
    shardId: values.id,
    listen: values.listen,
    metricsAddress: metricsAddress.value,
    dataDir: values['data-dir'],
    providers: providers.value,
    isProviderShared: values['provider-shared'],
    providerKeepalive: {
      timeMs: values['provider-keepalive-interval'],
      timeoutMs: values['provider-keepalive-timeout'],
      withoutCalls: false,
    },
    epochFloor: values['epoch-floor'],
    recordsDir: values['records-dir'] || path.join(values['data-dir'], 'records'),
    auditLog: values['audit-log'],
    traceSamples: values['trace-samples'],
    hasDebugEndpoints: values['debug-endpoints'],
    tls: tlsSettings(values),
    shard: coreSettings(values, env),
    build: { version: BUILD_VERSION, revision: env['BIGFLEET_REVISION'] ?? 'unknown' },
  };
  return ok({ settings, coordinator: coordinatorSettings(values), warnings });
}

function valueProblem({ values, given }: Parsed<ShardFlags>): string | undefined {
  const id = parseShardId(values.id);
  if (!id.ok) return `--id=${values.id}: ${id.error.problem}`;
  if (values.listen === '') return '--listen is empty: a shard without sessions serves nobody';
  if (values['data-dir'] === '') return '--data-dir is empty';
  const hasAddresses = values.provider.length > 0 || values['provider-addr'] !== '';
  if (values.provider.length > 0 && values['provider-addr'] !== '') {
    return '--provider and --provider-addr exclude each other';
  }
  if (values['fake-provider'] && hasAddresses) {
    return '--fake-provider excludes --provider and --provider-addr';
  }
  if (values['provider-shared'] && values['fake-provider']) {
    return '--provider-shared excludes --fake-provider: nobody else can dial the fake';
  }
  if (values['coordinator-heartbeat-interval'] < MIN_HEARTBEAT_MS) {
    return '--coordinator-heartbeat-interval is at least 100ms';
  }
  if (values['provider-keepalive-interval'] < MIN_KEEPALIVE_MS) {
    return '--provider-keepalive-interval is at least 30s: providers drop who pings faster';
  }
  if (values['provider-keepalive-timeout'] < MIN_KEEPALIVE_TIMEOUT_MS) {
    return '--provider-keepalive-timeout is at least 1s';
  }
  const stray = FAKE_ONLY.find((name) => given.has(name));
  if (!values['fake-provider'] && stray !== undefined) return `--${stray} needs --fake-provider`;
  if (values['seed-density-multiplier'] < 1) return '--seed-density-multiplier is at least 1';
  if (values['seed-configured-per-cluster'] > 0 && ordinalOf(values.id) === undefined) {
    return '--seed-configured-per-cluster needs an --id that ends in -<ordinal>';
  }
  // A flag that is taken and does nothing is worse than one that is missing.
  if (values.archetypes !== '') return '--archetypes: this build has no catalogue reader yet';
  return undefined;
}

function coordinatorSettings(values: Values): CoordinatorSettings | undefined {
  const address = values['coordinator-addr'];
  if (address === '') return undefined;
  return {
    address,
    shardAddress: values['advertise-addr'] || values.listen,
    intervalMs: values['coordinator-heartbeat-interval'],
  };
}

/** The default of --advertise-addr is --listen, which may name no host that others can dial. */
function unnamedProblem(values: Values): string | undefined {
  const { listen, 'coordinator-addr': coordinator, 'advertise-addr': advertised } = values;
  if (coordinator === '' || advertised !== '' || !isUnspecified(listen)) return undefined;
  return (
    `--listen=${listen} names no host and --advertise-addr is not given: the shard registers an ` +
    'address that leads everyone to themselves; bigfleetctl refuses what answers there'
  );
}

function coreSettings(values: Values, env: Env): ProcessSettings['shard'] {
  return {
    rails: {
      paused: values['actuation-paused'],
      dryRun: values['dry-run'],
      reclaimCapFraction: values['reclaim-cap-fraction'],
      emptyRollupGuard: values['empty-rollup-guard'],
      maxActionsPerCycle: values['max-actions-per-cycle'],
    },
    hasConfigureBrake: values['configure-brake'],
    executeConcurrency: values['execute-concurrency'],
    requireSessionCn: values['require-session-cn'],
    hasLocalBootstrap: values['local-bootstrap'],
    isIncremental: values['incremental-reconcile'],
    recordsMaxBytes: values['records-max-bytes'],
    metricsWarmupCycles: values['metrics-warmup-cycles'],
    hintIntervalMs: values['available-capacity-interval'],
    hasPhaseAttribution: values['phase-attribution-log'] || env['BIGFLEET_PHASEDUMP'] === '1',
    hasReflection: values.reflection,
  };
}

function providerChoice(
  values: Values,
  createLatencyMs: number | undefined,
): Result<ProviderChoice, string> {
  if (values['fake-provider']) {
    return ok({ kind: 'fake', fake: fakeSettings(values, createLatencyMs) });
  }
  const targets: ProviderTarget[] = [];
  for (const given of values.provider) {
    const at = given.indexOf('=');
    if (at <= 0) return err(`--provider=${given}: write name=host:port`);
    targets.push({ name: given.slice(0, at), address: given.slice(at + 1) });
  }
  const single = values['provider-addr'];
  if (single !== '') targets.push({ name: 'default', address: single });
  if (targets.length === 0) return ok({ kind: 'stored' });
  const lost = targets.find(({ address }) => !isDialable(address));
  if (lost !== undefined) {
    const text = `${JSON.stringify(lost.address)} is not host:port or unix:/path`;
    return err(`--provider: provider ${lost.name}: ${text}`);
  }
  const problem = targetsProblem(targets);
  return problem === undefined ? ok({ kind: 'flags', targets }) : err(`--provider: ${problem}`);
}

function fakeSettings(values: Values, createLatencyMs: number | undefined): FakeSettings {
  return {
    idleCount: values['seed-machines'],
    speculativeCount: values['seed-speculative'],
    spotCount: values['seed-spot'],
    configuredPerCluster: values['seed-configured-per-cluster'],
    clusterTotal: values['seed-cluster-total'],
    clusterStride: values['seed-cluster-stride'],
    ordinal: ordinalOf(values.id),
    densityMultiplier: values['seed-density-multiplier'],
    failuresPerSecond: values['failure-rate-per-sec'],
    shedAtSeconds: values['speculative-shed-at-seconds'],
    shedMultiplier: values['speculative-shed-multiplier'],
    createLatencyMs,
  };
}

function createLatency(env: Env, warnings: string[]): number | undefined {
  const given = env['BIGFLEET_FAKE_CREATE_LATENCY'] ?? '';
  if (given === '') return undefined;
  const parsed = parseDuration(given);
  if (parsed.ok) return parsed.value;
  warnings.push(`BIGFLEET_FAKE_CREATE_LATENCY=${given} is ignored: ${parsed.error}`);
  return undefined;
}

function ordinalOf(id: string): number | undefined {
  const digits = /-(\d{1,6})$/.exec(id)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
