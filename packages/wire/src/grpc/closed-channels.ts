// A closed channel opens nothing and keeps nothing. grpc-js only gives its subchannels up, and goes
// on with what was under way:
//
// 1. A subchannel that was refused connects again when its back-off ends, and nobody is left to
//    close that connection: it stays and sends pings for as long as both processes live.
// 2. An attempt under way stays until the kernel gives up on TCP, and for ever where the peer
//    accepts and never speaks HTTP/2.
// 3. A name that is still being looked up, and a pick that is still queued, start a new balancer.
// 4. A balancer that was given up keeps its timer for the next address, and connects again for a
//    pick that is still queued.
//
// A subchannel is given up for good when nobody refers to it: its pool holds one reference, and
// drops it together with the entry.

import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { InternalChannel } from '@grpc/grpc-js/build/src/internal-channel.js';
import { PickFirstLoadBalancer } from '@grpc/grpc-js/build/src/load-balancer-pick-first.js';
import { Subchannel } from '@grpc/grpc-js/build/src/subchannel.js';
import { Http2SubchannelConnector } from '@grpc/grpc-js/build/src/transport.js';
import { isPatched, type Options, patchMethod } from './patch-method.ts';

/** The attempt that a connector makes; a connector makes one at a time. */
interface Attempt {
  /** Undefined before TCP was asked, and again when HTTP/2 has begun or the attempt has failed. */
  socket?: Socket | undefined;
  isGivenUp: boolean;
}

type Connector = object;

/** What the patches use of the library's private state. */
interface GivenUp {
  readonly options: Options;
  readonly connector: Connector;
  readonly refcount: number;
  stopBackoff(): void;
}

interface Closing {
  readonly options: Options;
  readonly resolvingLoadBalancer: {
    exitIdle: () => void;
    readonly childLoadBalancer: { updateAddressList: () => boolean };
  };
}

interface PickFirst {
  readonly latestOptions: Options;
  readonly connectionDelayTimeout: NodeJS.Timeout;
  latestAddressList: readonly unknown[] | null;
}

const attempts = new WeakMap<Connector, Attempt>();

function attemptOf(connector: Connector): Attempt {
  let attempt = attempts.get(connector);
  if (attempt === undefined) attempts.set(connector, (attempt = { isGivenUp: false }));
  return attempt;
}

type Connect = (
  this: Connector,
  address: unknown,
  secure: unknown,
  options: Options,
) => Promise<unknown>;
patchMethod<Connector, Connect>(Http2SubchannelConnector, 'connect', (original) => {
  return async function (this: Connector, ...args): Promise<unknown> {
    try {
      return await original(this, args);
    } finally {
      attemptOf(this).socket = undefined;
    }
  };
});

/** As the library does it without a proxy, with the socket in reach from the start. */
type TcpConnect = (this: Connector, address: NetConnectOpts, options: Options) => Promise<Socket>;
patchMethod<Connector, TcpConnect>(Http2SubchannelConnector, 'tcpConnect', (original) => {
  return function (this: Connector, ...args): Promise<Socket> {
    const [address, options] = args;
    if (!isPatched(options)) return original(this, args);
    const attempt = attemptOf(this);
    return new Promise((resolve, reject) => {
      if (attempt.isGivenUp) return reject(new Error('the channel is closed'));
      const onClose = (): void => reject(new Error('Socket closed'));
      const socket = connect(address);
      attempt.socket = socket;
      socket.once('error', reject);
      socket.once('close', onClose);
      socket.once('connect', () => {
        socket.off('error', reject);
        socket.off('close', onClose);
        resolve(socket);
      });
    });
  };
});

type Unref = (this: GivenUp) => void;
patchMethod<GivenUp, Unref>(Subchannel, 'unref', (original) => {
  return function (this: GivenUp): void {
    original(this, []);
    if (this.refcount > 0 || !isPatched(this.options)) return;
    // Behind the ticks that are queued already, of which one may start another attempt.
    process.nextTick(giveUp, this);
  };
});

function giveUp(subchannel: GivenUp): void {
  subchannel.stopBackoff();
  const attempt = attemptOf(subchannel.connector);
  attempt.isGivenUp = true;
  attempt.socket?.destroy();
}

type Close = (this: Closing) => void;
patchMethod<Closing, Close>(InternalChannel, 'close', (original) => {
  return function (this: Closing): void {
    original(this, []);
    if (!isPatched(this.options)) return;
    const { resolvingLoadBalancer } = this;
    resolvingLoadBalancer.exitIdle = () => {};
    resolvingLoadBalancer.childLoadBalancer.updateAddressList = () => true;
  };
});

type Destroy = (this: PickFirst) => void;
patchMethod<PickFirst, Destroy>(PickFirstLoadBalancer, 'destroy', (original) => {
  return function (this: PickFirst): void {
    original(this, []);
    if (!isPatched(this.latestOptions)) return;
    clearTimeout(this.connectionDelayTimeout);
    this.latestAddressList = null;
  };
});
