// The two processes of the demo with their command lines: what a person would type, with shorter
// waits than production has.

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Runtime } from '@bigfleet/base';
import type { DemoOptions } from '../options.ts';
import { HOST } from '../ports.ts';
import { slotCount } from '../provider/shapes.ts';
import { Child } from './child.ts';

const providerScript = fileURLToPath(new URL('../simulated-provider.ts', import.meta.url));
/** Started, never loaded: the demo speaks to the shard over the wire only. */
const bigfleetScript = fileURLToPath(new URL('./main.ts', import.meta.resolve('@bigfleet/cli')));

export interface StartOptions extends Pick<DemoOptions, 'ports' | 'seed'> {
  readonly runtime: Runtime;
  /** For data and logs. */
  readonly dir: string;
}

export function startProvider({ runtime, ports, seed, dir }: StartOptions): Child {
  return new Child({
    runtime,
    name: 'provider',
    script: providerScript,
    args: [
      '--use-fake-backend',
      `--addr=${HOST}:${ports.provider}`,
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

export function startShard({ runtime, ports, dir }: StartOptions): Child {
  return new Child({
    runtime,
    name: 'shard',
    script: bigfleetScript,
    args: [
      'shard',
      `--listen=${HOST}:${ports.shard}`,
      `--metrics-addr=${HOST}:${ports['shard-metrics']}`,
      `--provider=simulated=${HOST}:${ports.provider}`,
      `--data-dir=${path.join(dir, 'shard')}`,
      '--execute-concurrency=32',
      '--incremental-reconcile',
      '--reflection',
    ],
    logFile: path.join(dir, 'shard.log'),
    readyUrl: `http://${HOST}:${ports['shard-metrics']}/readyz`,
  });
}
