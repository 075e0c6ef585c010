// A shard process that reports to the coordinators of a stage, found as in a cluster: a name with all
// their addresses behind it, in a hosts file that only this process sees. Where that needs a
// privilege that is not there, it gets an address that leads to any of them.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ShardProcess } from '../../shard/shard-process.ts';
import { startProcess } from '../../toolkit/index.ts';
import type { Discovery } from './discovery.ts';

/** Run as a process, never imported. */
const MAIN = path.join(import.meta.dirname, '../../../packages/cli/src/main.ts');
const LISTENING = / msg=listening .* epoch=(\d+) addr=(\S+)/;
const SERVING = / msg="metrics serving" .* addr=(\S+)/;
/** In a mount namespace of its own: it ends with the process. */
const WITH_HOSTS = 'mount --bind "$0" /etc/hosts && exec "$@"';

export const REPORT_EVERY_MS = 1_000;

export interface ReportingShardOptions {
  readonly shardId: string;
  /** Of this shard alone. */
  readonly folder: string;
  readonly coordinators: Discovery;
}

/** Waits until it serves. */
export async function startReportingShard(options: ReportingShardOptions): Promise<ShardProcess> {
  const child = await startProcess({
    name: options.shardId,
    ...commandOf(options),
    ready: { kind: 'line', pattern: SERVING },
  });
  const [, epoch = '', address = ''] = await child.waitForLine(LISTENING);
  const [, metricsAddress = ''] = await child.waitForLine(SERVING);
  return {
    process: child,
    address,
    metricsAddress,
    epoch: Number(epoch),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

function commandOf({ shardId, folder, coordinators }: ReportingShardOptions): {
  command: string;
  args: readonly string[];
} {
  const args = [
    MAIN,
    'shard',
    `--id=${shardId}`,
    `--data-dir=${path.join(folder, 'data')}`,
    '--listen=127.0.0.1:0',
    '--metrics-addr=127.0.0.1:0',
    '--fake-provider',
    '--seed-machines=8',
    `--coordinator-addr=${coordinators.address}`,
    `--coordinator-heartbeat-interval=${REPORT_EVERY_MS}ms`,
  ];
  if (coordinators.hosts === undefined) return { command: process.execPath, args };
  const file = path.join(folder, 'hosts');
  writeFileSync(file, coordinators.hosts);
  const shell = ['--mount', 'sh', '-c', WITH_HOSTS, file];
  return { command: 'unshare', args: [...shell, process.execPath, ...args] };
}
