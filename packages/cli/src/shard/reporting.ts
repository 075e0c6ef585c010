// The shard's reports to the coordinator, when it has one: the client over real names and channels.
// Started after the shard and stopped before it, and neither waits for an answer.

import { assert } from '@bigfleet/base';
import {
  type CoordClient,
  type Endpoint,
  resolveByDns,
  startCoordClient,
} from '@bigfleet/coordclient';
import type { RunningProcess, StartProcessOptions } from '@bigfleet/shard';
import { type Channel, createGrpcChannel } from '@bigfleet/wire';
import type { CoordinatorSettings } from './settings.ts';

export class Reporting {
  #client: CoordClient | undefined;

  /** The highest term heard; 0 before the start. */
  get term(): bigint {
    return this.#client?.term ?? 0n;
  }

  async start(
    { address, shardAddress, intervalMs }: CoordinatorSettings,
    running: RunningProcess,
    options: StartProcessOptions,
  ): Promise<void> {
    const { runtime, logger, registry } = options;
    const { control } = running.shard.parts;
    assert(control !== undefined, 'a shard process can be steered');
    this.#client = await startCoordClient({
      runtime,
      logger: logger.child({ shard_id: control.shardId, epoch: String(control.epoch) }),
      registry,
      control,
      coordinatorAddress: address,
      // A port chosen by the kernel is known only now.
      shardAddress: shardAddress.endsWith(':0') ? running.shard.address : shardAddress,
      intervalMs,
      termFile: running.fileOf('coordinator-term'),
      resolve: resolveByDns,
      connect: (endpoint) => connect(endpoint, running, options),
    });
  }

  stop(): void {
    this.#client?.stop();
  }
}

/** Whatever the address came from, the server must be the coordinator (security §3.2). */
function connect(
  { address, serverName }: Endpoint,
  { tls }: RunningProcess,
  { runtime }: StartProcessOptions,
): Channel {
  return createGrpcChannel({
    runtime,
    target: address,
    serverIdentity: { kind: 'admin' },
    ...(tls === undefined ? {} : { tls }),
    ...(serverName === undefined ? {} : { serverName }),
  });
}
