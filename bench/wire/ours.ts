// Our side: the network adapter as production uses it, gate and router included, in plaintext.
// The handlers are the plain ones that every service has.

import type { Runtime } from '@bigfleet/base';
import {
  CapacityProvider,
  createClient,
  createGate,
  createGrpcChannel,
  createGrpcServer,
  type Handlers,
  type OperatorMessage,
  Router,
  RpcError,
  Shard,
} from '@bigfleet/wire';
import type { Flight } from './flight.ts';
import type { Service } from './service.ts';
import type { ClientSide } from './side.ts';

/** Resolves with the address that it listens on. */
export async function serveOurs(runtime: Runtime, service: Service): Promise<string> {
  const router = new Router({ gate: createGate({ transport: 'plaintext' }) })
    .add(CapacityProvider, providerHandlers(service))
    .add(Shard, sessionHandlers(service));
  const server = createGrpcServer({ runtime, router, listen: ['127.0.0.1:0'] });
  const [address] = await server.bind();
  if (address === undefined) throw new Error('our server is bound to nothing');
  return address;
}

export function dialOurs(runtime: Runtime, address: string): ClientSide {
  const channel = createGrpcChannel({ runtime, target: address });
  const provider = createClient(CapacityProvider, channel);
  const shard = createClient(Shard, channel);
  return {
    get: (id) => provider.get({ id }),
    async fly(flight) {
      for await (const answer of shard.session(outgoing(flight))) flight.answer(answer);
    },
    close: () => channel.close(),
  };
}

async function* outgoing(flight: Flight): AsyncIterable<OperatorMessage> {
  while (!flight.allSent) {
    if (flight.hasRoom) yield flight.send();
    else await flight.room();
  }
}

export function sessionHandlers(service: Service): Handlers<typeof Shard> {
  return {
    async *session(requests) {
      for await (const request of requests) yield service.answer(request);
    },
  };
}

function providerHandlers(service: Service): Handlers<typeof CapacityProvider> {
  const refuse = async (): Promise<never> => {
    throw new RpcError('UNIMPLEMENTED', 'this provider only answers Get');
  };
  return {
    get: async ({ id }) => service.get(id),
    list: refuse,
    create: refuse,
    configure: refuse,
    drain: refuse,
    delete: refuse,
  };
}
