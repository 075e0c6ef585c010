// The processes of the demo with their command lines: what a person would type, with shorter waits
// than production has.

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Runtime } from '@bigfleet/base';
import type { ProviderAddress } from '../fleet/provider-address.ts';
import type { DemoOptions } from '../options.ts';
import { type ShardName, HOST, type PortName } from '../places.ts';
import { slotCount } from '../provider/shapes.ts';
import { Child } from './child.ts';

const providerScript = fileURLToPath(new URL('../simulated-provider.ts', import.meta.url));
/** Started, never loaded: the demo speaks to the shard over the wire only. */
const bigfleetScript = fileURLToPath(new URL('./main.ts', import.meta.resolve('@bigfleet/cli')));

/** Far below production's: a demonstration is watched. */
const HEARTBEAT_INTERVAL = '500ms';
const REBALANCE_INTERVAL = '2s';

/** For sessions, and for metrics. */
export const shardPorts: Readonly<Record<ShardName, readonly [PortName, PortName]>> = {
  'shard-0': ['shard', 'shard-metrics'],
  'shard-1': ['second-shard', 'second-shard-metrics'],
};

export interface StartOptions extends Pick<DemoOptions, 'ports' | 'seed'> {
  readonly runtime: Runtime;
  readonly provider: ProviderAddress;
  /** For data and logs. */
  readonly dir: string;
}

export function startProvider({ runtime, ports, seed, provider, dir }: StartOptions): Child {
  return new Child({
    runtime,
    name: 'provider',
    script: providerScript,
    args: [
      '--use-fake-backend',
      `--addr=${provider.listenHost}:${ports.provider}`,
      `--metrics-addr=${HOST}:${ports['provider-metrics']}`,
      `--seed=${seed}`,
      `--seed-count=${slotCount}`,
      '--failed-cleanup-after=3s',
      '--shutdown-grace=1s',
    ],
    logFile: path.join(dir, 'provider.log'),
    readyUrl: `http://${HOST}:${ports['provider-metrics']}/readyz`,
  });
}

export function startCoordinator({ runtime, ports, dir }: StartOptions): Child {
  return new Child({
    runtime,
    name: 'coordinator',
    script: bigfleetScript,
    args: [
      'coordinator',
      '--bootstrap',
      `--listen=${HOST}:${ports.coordinator}`,
      `--metrics-addr=${HOST}:${ports['coordinator-metrics']}`,
      `--data-dir=${path.join(dir, 'coordinator')}`,
      `--rebalance-interval=${REBALANCE_INTERVAL}`,
      '--reflection',
    ],
    logFile: path.join(dir, 'coordinator.log'),
    readyUrl: `http://${HOST}:${ports['coordinator-metrics']}/readyz`,
  });
}

export function startShard(shard: ShardName, options: StartOptions): Child {
  const { runtime, ports, provider, dir } = options;
  const [listen, metrics] = shardPorts[shard];
  return new Child({
    runtime,
    name: shard,
    script: bigfleetScript,
    args: [
      'shard',
      `--id=${shard}`,
      `--listen=${HOST}:${ports[listen]}`,
      `--metrics-addr=${HOST}:${ports[metrics]}`,
      `--provider=simulated=${provider.dialHost}:${ports.provider}`,
      '--provider-shared',
      `--coordinator-addr=${HOST}:${ports.coordinator}`,
      `--coordinator-heartbeat-interval=${HEARTBEAT_INTERVAL}`,
      `--data-dir=${path.join(dir, shard)}`,
      '--incremental-reconcile',
      // The first one starts the threads: the summary would name that the worst cycle.
      '--metrics-warmup-cycles=1',
      '--reflection',
    ],
    logFile: path.join(dir, `${shard}.log`),
    readyUrl: `http://${HOST}:${ports[metrics]}/readyz`,
  });
}
