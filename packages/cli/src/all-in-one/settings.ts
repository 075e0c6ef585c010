// From the flags of `bigfleet all-in-one` to the settings of its two halves. Each half is asked the
// way its own command is, so that defaults, rails and rules are those of production; a refusal is told
// with the names of the flags that were typed here.

import path from 'node:path';
import { err, ok, type Result } from '@bigfleet/base';
import type { CoordinatorSettings } from '@bigfleet/coordinator';
import type { ProcessSettings } from '@bigfleet/shard';
import type { ListenAddress } from '@bigfleet/telemetry';
import { type FlagValues, parseFlags } from '@bigfleet/process/flags';
import type { Env } from '../command.ts';
import { coordinatorFlags } from '../coordinator/flags.ts';
import { coordinatorSettings } from '../coordinator/settings.ts';
import { shardFlags } from '../shard/flags.ts';
import { shardSettings } from '../shard/settings.ts';
import { devMachines } from './dev-machines.ts';
import type { allInOneFlags } from './flags.ts';

type Values = FlagValues<typeof allInOneFlags>;

export interface AllInOneSettings {
  readonly dataDir: string;
  readonly raftBind: string;
  readonly coordinator: CoordinatorSettings;
  readonly shard: ProcessSettings;
  /** Both halves' probes on one server; undefined: each has its own, or none. */
  readonly sharedMetricsAddress: ListenAddress | undefined;
}

/** What both take, under the same name. */
const COMMON = [
  'tls-cert',
  'tls-key',
  'tls-ca',
  'require-tls',
  'debug-endpoints',
  'reflection',
] as const;

export function allInOneSettings(values: Values, env: Env): Result<AllInOneSettings, string> {
  const dataDir = values['data-dir'];
  if (dataDir === '') return err('--data-dir is empty');
  const common = COMMON.map((name) => `--${name}=${values[name]}`);
  const coordinator = coordinatorHalf(values, common, env);
  if (!coordinator.ok) return err(renamed(coordinator.error, 'coordinator'));
  const shard = shardHalf(values, common, env);
  if (!shard.ok) return err(renamed(shard.error, 'shard'));
  const isServedOnce =
    values['shard-metrics-addr'] === values['coordinator-metrics-addr'] &&
    shard.value.metricsAddress.kind === 'listen';
  const off = { kind: 'disabled' } as const;
  return ok({
    dataDir,
    raftBind: values['raft-bind'],
    sharedMetricsAddress: isServedOnce ? shard.value.metricsAddress : undefined,
    coordinator: isServedOnce ? { ...coordinator.value, metricsAddress: off } : coordinator.value,
    shard: isServedOnce ? { ...shard.value, metricsAddress: off } : shard.value,
  });
}

function coordinatorHalf(
  values: Values,
  common: readonly string[],
  env: Env,
): Result<CoordinatorSettings, string> {
  const parsed = parseFlags(coordinatorFlags, [
    ...common,
    '--store=sqlite',
    '--bootstrap',
    `--listen=${values['coordinator-listen']}`,
    `--metrics-addr=${values['coordinator-metrics-addr']}`,
    `--id=${values['coordinator-id']}`,
    `--data-dir=${path.join(values['data-dir'], 'coord')}`,
  ]);
  return parsed.ok ? coordinatorSettings(parsed.value, env) : parsed;
}

function shardHalf(
  values: Values,
  common: readonly string[],
  env: Env,
): Result<ProcessSettings, string> {
  const parsed = parseFlags(shardFlags, [
    ...common,
    '--fake-provider',
    `--listen=${values['shard-listen']}`,
    `--metrics-addr=${values['shard-metrics-addr']}`,
    `--id=${values['shard-id']}`,
    `--data-dir=${path.join(values['data-dir'], 'shard')}`,
    `--trace-samples=${values['trace-samples']}`,
  ]);
  if (!parsed.ok) return parsed;
  const command = shardSettings(parsed.value, env);
  if (!command.ok) return command;
  const { settings } = command.value;
  const { providers } = settings;
  if (providers.kind !== 'fake') return err('all-in-one runs on the fake provider');
  return ok({
    ...settings,
    providers: { ...providers, fake: { ...providers.fake, machines: devMachines } },
  });
}

function renamed(problem: string, half: 'coordinator' | 'shard'): string {
  return problem.replaceAll(/--(listen|metrics-addr|id)\b/g, (_, name) => `--${half}-${name}`);
}
