// The processes of the rebalance tests, as commands: each on addresses that it keeps over kills.

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunningProcess, startProcess } from '../../toolkit/index.ts';
import type { FleetHost } from './fleet-host.ts';

/** Run as a process, never imported. */
const MAIN = path.join(import.meta.dirname, '../../../packages/cli/src/main.ts');
const PROVIDER_MAIN = fileURLToPath(new URL('./provider-main.ts', import.meta.url));

const REPORT_MS = 1_000;
const PASS_MS = 5_000;

export interface Endpoint {
  readonly address: string;
  readonly metricsAddress: string;
}

export async function startSharedProvider(
  { listen, dial }: FleetHost,
  acts: string,
): Promise<{ readonly process: RunningProcess; readonly address: string }> {
  const serving = / msg="the shared provider serves" .*addr=\S+:(\d+)/;
  const started = await startProcess({
    name: 'provider',
    command: process.execPath,
    args: [PROVIDER_MAIN, `${listen}:0`, acts],
    ready: { kind: 'line', pattern: serving },
  });
  const [, port = ''] = await started.waitForLine(serving);
  return { process: started, address: `${dial}:${port}` };
}

export function startCoordinator(endpoint: Endpoint, dir: string): Promise<RunningProcess> {
  return start('coordinator', endpoint, [
    'coordinator',
    '--bootstrap',
    `--data-dir=${path.join(dir, 'coordinator')}`,
    `--rebalance-interval=${PASS_MS}ms`,
  ]);
}

export interface ShardSpec extends Endpoint {
  readonly id: string;
  readonly coordinator: string;
  readonly provider: string;
}

export function startShard(spec: ShardSpec, dir: string): Promise<RunningProcess> {
  return start(spec.id, spec, [
    'shard',
    `--id=${spec.id}`,
    `--data-dir=${path.join(dir, spec.id)}`,
    `--coordinator-addr=${spec.coordinator}`,
    `--coordinator-heartbeat-interval=${REPORT_MS}ms`,
    `--provider=shared=${spec.provider}`,
    '--provider-shared',
    // How fast machines are given back is not the question here.
    '--reclaim-cap-fraction=0',
  ]);
}

/** Until its probes say that it is ready. */
function start(
  name: string,
  { address, metricsAddress }: Endpoint,
  args: readonly string[],
): Promise<RunningProcess> {
  return startProcess({
    name,
    command: process.execPath,
    args: [MAIN, ...args, `--listen=${address}`, `--metrics-addr=${metricsAddress}`],
    ready: { kind: 'http', url: `http://${metricsAddress}/readyz` },
  });
}
