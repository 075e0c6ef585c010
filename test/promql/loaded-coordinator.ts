// A coordinator process with every kind of history that the queries ask about: shards that report, one
// of them with instructions that it never acknowledges, commands applied and refused, an election.
// The shards are calls of this test: what a coordinator counts is what it hears.

import assert from 'node:assert/strict';
import path from 'node:path';
import { realRuntime } from '@bigfleet/base/real';
import {
  type Channel,
  type Client,
  Coordinator,
  createClient,
  createGrpcChannel,
  type ReportAck,
} from '@bigfleet/wire';
import {
  eventually,
  HANG_MS,
  leasePorts,
  type RunningProcess,
  startProcess,
} from '../toolkit/index.ts';

const MAIN = path.join(import.meta.dirname, '../../packages/cli/src/main.ts');

/** The PREPARE of one move: to the shard with idle machines, which does not acknowledge it. */
export const UNACKNOWLEDGED = 1;
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
        '--rebalance-interval=200ms',
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
  const report = (shardId: string): Promise<ReportAck> => {
    cycle += 1n;
    const head = { shardId, shardAddress: '127.0.0.1:1', shardEpoch: 1n, cycle };
    return coordinator.reportShard({ ...head, ...stateOf(shardId) });
  };
  // The connection of before the election may have to be made anew.
  await eventually(() => report(QUIET_SHARD).then(() => true), {
    what: 'a report is taken',
  });
  const zone = { topologyKey: 'topology.kubernetes.io/zone', topologyValue: 'zone-0' };
  await report(BUSY_SHARD);
  await coordinator.assignDomain({ ...zone, shardId: BUSY_SHARD });
  const taken = { ...zone, shardId: QUIET_SHARD };
  for (let at = 0; at < REFUSED; at++) await assert.rejects(coordinator.assignDomain(taken));
  await eventually(
    async () => {
      await report(QUIET_SHARD);
      return (await report(BUSY_SHARD)).instructions.length === UNACKNOWLEDGED;
    },
    { what: 'the shard with idle machines is asked to give some' },
  );
}

/** Two shards of one provider: the quiet one is short for long, the busy one has idle machines. */
function stateOf(shardId: string): Parameters<Client<typeof Coordinator>['reportShard']>[0] {
  const idleMachines = shardId === BUSY_SHARD ? 20 : 0;
  const counts = { totalMachines: 20, idleMachines, freeMachines: idleMachines };
  const provider = { name: 'shared', address: 'provider.example:9000', shared: true, ...counts };
  const cores = (cpu: string): { resources: { cpu: string } } => ({ resources: { cpu } });
  const short = { deficit: cores('8'), minUnit: cores('4'), priority: 1_000, ageCycles: 20 };
  return {
    providerShared: true,
    summary: { ...counts, providers: [{ ...provider, source: 'flag' }] },
    shortfalls: shardId === BUSY_SHARD ? [] : [{ ...short, reasonCode: 'no_matching_supply' }],
  };
}
