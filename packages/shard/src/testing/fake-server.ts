// The fake behind a real gRPC server, with health and reflection as providers have them. Wiring
// only; tests of processes and `fake-main.ts` use it alike.

import type { Runtime } from '@bigfleet/base';
import {
  CapacityProvider,
  createGate,
  createGrpcServer,
  Health,
  HealthRegistry,
  reflectionHandlers,
  Router,
  ServerReflection,
  type TlsMaterial,
} from '@bigfleet/wire';
import type { FakeProvider } from './fake/fake-provider.ts';
import { fakeHandlers } from './fake/service.ts';

export interface FakeServerOptions {
  readonly runtime: Runtime;
  readonly fake: FakeProvider;
  readonly listen: string;
  readonly tls?: TlsMaterial;
  readonly reflection?: boolean;
}

export interface FakeServer {
  /** Ready to dial. */
  readonly address: string;
  stop(): Promise<void>;
}

export async function serveFake(options: FakeServerOptions): Promise<FakeServer> {
  const { runtime, fake, listen, tls } = options;
  const router = new Router({
    gate: createGate({ transport: tls?.mode === 'mtls' ? 'mtls' : 'plaintext' }),
  });
  const health = new HealthRegistry();
  router.add(CapacityProvider, fakeHandlers(fake)).add(Health, health.handlers);
  if (options.reflection === true) {
    router.add(
      ServerReflection,
      reflectionHandlers(() => router.services),
    );
  }
  const server = createGrpcServer({
    runtime,
    router,
    listen: [listen],
    keepalive: 'provider',
    ...(tls === undefined ? {} : { tls }),
  });
  const [address = listen] = await server.bind();
  return {
    address,
    stop: async () => {
      health.setAll('not-serving');
      await server.stop();
      fake.close();
    },
  };
}
