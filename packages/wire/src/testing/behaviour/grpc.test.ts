// Proves that the network adapter behaves as the shared suite says, over real sockets.

import assert from 'node:assert/strict';
import type { Runtime } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { createGrpcChannel } from '../../grpc/channel.ts';
import { maxMessageBytes } from '../../grpc/limits.ts';
import { createGrpcServer, type GrpcServer } from '../../grpc/server.ts';
import type { ByteRouter, Channel } from '../../transport/transport.ts';
import { describeTransport } from './describe-transport.ts';
import { startTcpCutter, type TcpCutter } from './tcp-cutter.ts';
import type { Served, ServeOptions, World } from './world.ts';

const BODY_LIMIT_MS = 120_000;

describeTransport('network transport', async () => new NetworkWorld());

class NetworkWorld implements World {
  readonly runtime: Runtime = realRuntime({ seed: 'behaviour' });
  readonly limitBytes = maxMessageBytes;
  readonly #channels: Channel[] = [];
  readonly #servers: GrpcServer[] = [];
  readonly #cutters: TcpCutter[] = [];

  async serve(router: ByteRouter, { stopGraceMs = 100 }: ServeOptions = {}): Promise<Served> {
    const { runtime } = this;
    const server = createGrpcServer({ runtime, router, listen: ['127.0.0.1:0'], stopGraceMs });
    this.#servers.push(server);
    const [address] = await server.bind();
    assert.ok(address !== undefined);
    const cutter = await startTcpCutter(address);
    this.#cutters.push(cutter);
    return {
      connect: () => this.#connect(cutter.address),
      stop: () => server.stop(),
      cut: () => cutter.cut(),
    };
  }

  /** Port 1 is reserved and closed. */
  connectToNobody(): Channel {
    return this.#connect('127.0.0.1:1');
  }

  async run(body: () => Promise<void>): Promise<void> {
    let expire = (): void => {};
    const expired = new Promise<never>((_resolve, reject) => {
      expire = () => reject(new Error(`the test did not end in ${BODY_LIMIT_MS} ms`));
    });
    const timer = this.runtime.timers.after(BODY_LIMIT_MS, expire);
    try {
      await Promise.race([body(), expired]);
    } finally {
      timer.cancel();
    }
  }

  async close(): Promise<void> {
    for (const channel of this.#channels) channel.close();
    await Promise.all(this.#servers.map((server) => server.stop()));
    await Promise.all(this.#cutters.map((cutter) => cutter.close()));
    for (const server of this.#servers) assert.equal(server.callCount, 0, 'calls are left');
  }

  #connect(target: string): Channel {
    const reconnectBackoffMs = { initial: 20, max: 100 };
    const channel = createGrpcChannel({ runtime: this.runtime, target, reconnectBackoffMs });
    this.#channels.push(channel);
    return channel;
  }
}
