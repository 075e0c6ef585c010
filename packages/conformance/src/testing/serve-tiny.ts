// The tiny provider on a loopback port of this process, for tests of lanes.

import type { Runtime } from '@bigfleet/base';
import {
  CapacityProvider,
  createGrpcServer,
  type GrpcServer,
  openGate,
  Router,
  type TlsMaterial,
} from '@bigfleet/wire';
import { type TinyOptions, TinyProvider } from './tiny-provider.ts';

export interface ServedTiny {
  readonly target: string;
  readonly server: GrpcServer;
}

export interface ServeOptions extends TinyOptions {
  readonly runtime: Runtime;
  readonly tls?: TlsMaterial;
  /** Default: any port of 127.0.0.1. */
  readonly listen?: string;
}

export async function serveTiny(options: ServeOptions): Promise<ServedTiny> {
  const { runtime, tls, listen = '127.0.0.1:0' } = options;
  const router = new Router({ gate: openGate });
  router.add(CapacityProvider, new TinyProvider(options).handlers);
  const secured = tls === undefined ? {} : { tls };
  const server = createGrpcServer({
    runtime,
    router,
    listen: [listen],
    stopGraceMs: 0,
    ...secured,
  });
  const [target = ''] = await server.bind();
  return { target, server };
}
