// A coordinator process with every kind of history that the queries ask about: shards that report, one
// of them with instructions that it never acknowledges, commands applied and refused, an election.
// The shards are calls of this test: what a coordinator counts is what it hears.

import assert from 'node:assert/strict';
import path from 'node:path';
import { realRuntime } from '@bigfleet/base/real';
import { type Channel, Coordinator, createClient, createGrpcChannel } from '@bigfleet/wire';
import {
  eventually,
  HANG_MS,
  leasePorts,
  type RunningProcess,
  startProcess,
} from '../toolkit/index.ts';

const MAIN = path.join(import.meta.dirname, '../../packages/cli/src/main.ts');
const ZONE_KEY = 'topology.kubernetes.io/zone';

/** Domains, each an instruction: of the shard that does not acknowledge. */
export const UNACKNOWLEDGED = 3;
/** Commands that the state machine refuses: the domain is another shard's. */
export const REFUSED = 2;
export const BUSY_SHARD = 'shard-0';
export const QUIET_SHARD = 'shard-1';

export interface LoadedCoordinator extends AsyncDisposable {
  readonly metricsAddress: string;
  load(): Promise<void>;
  /** It is killed and started again on its data: another term. */
  elect(): Promise<void>;
}

export async function startLoadedCoordinator(dir: string): Promise<LoadedCoordinator> {
  await using stack = new AsyncDisposableStack();
  const leases = await leasePorts(2);
  for (const lease of leases) stack.use(lease);
  const [address = '', metricsAddress = ''] = leases.map(({ port }) => `127.0.0.1:${port}`);
  const start = (): Promise<RunningProcess> =>
    startProcess({
      name: 'coordinator',
      command: process.execPath,
      args: [
        MAIN,
        'coordinator',
        '--bootstrap',
        `--data-dir=${path.join(dir, 'coordinator')}`,
        `--listen=${address}`,
        `--metrics-addr=${metricsAddress}`,
      ],
      ready: { kind: 'http', url: `http://${metricsAddress}/readyz` },
    });
  let running = await start();
  stack.defer(() => running[Symbol.asyncDispose]());
  const channel = createGrpcChannel({
    runtime: realRuntime(),
    target: address,
    unaryDeadlineMs: HANG_MS,
    reconnectBackoffMs: { initial: 20, max: 100 },
  });
  stack.defer(() => channel.close());
  const owned = stack.move();
  return {
    metricsAddress,
    load: () => load(channel),
    elect: async () => {
      running.signal('SIGKILL');
      await running.waitExit();
      running = await start();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function load(channel: Channel): Promise<void> {
  const coordinator = createClient(Coordinator, channel);
  let cycle = 0n;
  const report = async (shardId: string): Promise<void> => {
    cycle += 1n;
    const shardAddress = '127.0.0.1:1';
    await coordinator.reportShard({ shardId, shardAddress, shardEpoch: 1n, cycle });
  };
  // The connection of before the election may have to be made anew.
  await eventually(() => report(QUIET_SHARD).then(() => true), {
    what: 'a report is taken',
  });
  await report(BUSY_SHARD);
  for (let at = 0; at < UNACKNOWLEDGED; at++) {
    const domain = { topologyKey: ZONE_KEY, topologyValue: `zone-${at}`, shardId: BUSY_SHARD };
    await coordinator.assignDomain(domain);
  }
  const taken = { topologyKey: ZONE_KEY, topologyValue: 'zone-0', shardId: QUIET_SHARD };
  for (let at = 0; at < REFUSED; at++) await assert.rejects(coordinator.assignDomain(taken));
  await report(BUSY_SHARD);
}
