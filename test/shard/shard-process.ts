// Starts `bigfleet shard` as a process, and talks to it as operators, administrators and probes do.

import path from 'node:path';
import { parseClusterId } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { createOperatorMetrics, OperatorSession } from '@bigfleet/operator';
import { captureSink, createLogger, createRegistry } from '@bigfleet/telemetry';
import { type Channel, createGrpcChannel, type TlsMaterial } from '@bigfleet/wire';
import { HANG_MS, type RunningProcess, startProcess } from '../toolkit/index.ts';
import { TestCluster } from './test-cluster.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
/** Run as a process, never imported. */
const MAIN: string = path.join(ROOT, 'packages', 'cli', 'src', 'main.ts');
const LISTENING = / msg=listening .* epoch=(\d+) addr=(\S+)/;
const SERVING = / msg="metrics serving" .* addr=(\S+)/;

const runtime = realRuntime();

export interface ShardProcess extends AsyncDisposable {
  readonly process: RunningProcess;
  readonly address: string;
  readonly metricsAddress: string;
  readonly epoch: number;
}

/** Waits until it serves. */
export async function startShardProcess(argv: readonly string[]): Promise<ShardProcess> {
  const child = await launchShard(argv, true);
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

/** As soon as the process exists, unless it is to serve. */
export function launchShard(
  argv: readonly string[],
  waitUntilServing = false,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningProcess> {
  return startProcess({
    name: 'shard',
    env,
    command: process.execPath,
    args: [
      MAIN,
      'shard',
      ...(argv.some((each) => each.startsWith('--listen=')) ? [] : ['--listen=127.0.0.1:0']),
      '--metrics-addr=127.0.0.1:0',
      ...argv,
    ],
    ...(waitUntilServing ? { ready: { kind: 'line', pattern: SERVING } } : {}),
  });
}

export function dialShard(address: string, tls?: TlsMaterial): Channel {
  return createGrpcChannel({
    runtime,
    target: address,
    keepalive: 'session',
    reconnectBackoffMs: { initial: 20, max: 50 },
    unaryDeadlineMs: HANG_MS,
    ...(tls === undefined ? {} : { tls, serverIdentity: { kind: 'host-name-only' } }),
  });
}

export interface TestOperator extends AsyncDisposable {
  readonly cluster: TestCluster;
  readonly session: OperatorSession;
}

/** The production session client over a cluster in memory. */
export function startOperator(
  clusterId: string,
  address: (() => string) | { readonly dial: () => Channel },
  tls?: TlsMaterial,
): TestOperator {
  const id = parseClusterId(clusterId);
  if (!id.ok) throw new Error(id.error.problem);
  const cluster = new TestCluster();
  const session = new OperatorSession({
    runtime,
    clusterId: id.value,
    cluster,
    dial: typeof address === 'function' ? () => dialShard(address(), tls) : address.dial,
    metrics: createOperatorMetrics(createRegistry()),
    logger: createLogger({ clock: runtime.clock, sink: captureSink() }),
    settings: {
      rollupIntervalMs: 500,
      onChangeSpacingMs: 50,
      backoffInitialMs: 50,
      backoffMaxMs: 200,
    },
  });
  const stop = new AbortController();
  const running = session.run(stop.signal);
  return {
    cluster,
    session,
    [Symbol.asyncDispose]: async () => {
      stop.abort(new Error('the test is over'));
      await running;
    },
  };
}
