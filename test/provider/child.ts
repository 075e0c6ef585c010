// Starts provider-main.ts as a process, and talks to it.

import { fileURLToPath } from 'node:url';
import { realRuntime } from '@bigfleet/base/real';
import {
  CapacityProvider,
  type Channel,
  type Client,
  createClient,
  createGrpcChannel,
  type GrpcChannelOptions,
  ProviderAdmin,
} from '@bigfleet/wire';
import { HANG_MS, type ProcessSpec, type RunningProcess, startProcess } from '../toolkit/index.ts';

const MAIN = fileURLToPath(new URL('./provider-main.ts', import.meta.url));
const SERVING = / msg="serving CapacityProvider" .* addr=(\S+) .* metrics_addr=(\S+)/;

export const runtime: ReturnType<typeof realRuntime> = realRuntime();

export interface ProviderProcess extends AsyncDisposable {
  readonly process: RunningProcess;
  /** To dial. */
  readonly address: string;
  readonly metricsAddress: string;
}

/** Waits until it serves. */
export async function startProvider(argv: readonly string[]): Promise<ProviderProcess> {
  const child = await launchProvider(argv, { ready: { kind: 'line', pattern: SERVING } });
  const [, address = '', metricsAddress = ''] = await child.waitForLine(SERVING);
  return {
    process: child,
    address,
    metricsAddress,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

/** As soon as the process exists. */
export function launchProvider(
  argv: readonly string[],
  spec: Partial<ProcessSpec> = {},
): Promise<RunningProcess> {
  return startProcess({
    name: 'provider',
    command: process.execPath,
    args: providerArguments(argv),
    ...spec,
  });
}

/** The script and its flags, for Node. */
export function providerArguments(argv: readonly string[]): readonly string[] {
  return [MAIN, '--use-fake-backend', '--metrics-addr=127.0.0.1:0', ...argv];
}

export interface ProviderClient extends Disposable {
  readonly calls: Client<typeof CapacityProvider>;
  readonly admin: Client<typeof ProviderAdmin>;
  readonly channel: Channel;
}

export function dial(
  target: string,
  options: Partial<Pick<GrpcChannelOptions, 'tls' | 'serverIdentity' | 'unaryDeadlineMs'>> = {},
): ProviderClient {
  const channel = createGrpcChannel({
    runtime,
    target,
    keepalive: 'provider',
    reconnectBackoffMs: { initial: 20, max: 50 },
    unaryDeadlineMs: HANG_MS,
    ...options,
  });
  return {
    calls: createClient(CapacityProvider, channel),
    admin: createClient(ProviderAdmin, channel),
    channel,
    [Symbol.dispose]: () => channel.close(),
  };
}
