// A typed client over any channel. For raw bytes use the channel itself with pathOf().

import type { DescMethod, DescService, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { decode, encodeInit, pathOf } from '../codec.ts';
import type { CallOptions, Channel } from '../transport/transport.ts';
import { mapStream } from './map-stream.ts';

type Init<M extends DescMethod> = MessageInitShape<M['input']>;
type Shape<M extends DescMethod> = MessageShape<M['output']>;

type ClientMethod<M extends DescMethod> = M['methodKind'] extends 'unary'
  ? (request: Init<M>, options?: CallOptions) => Promise<Shape<M>>
  : M['methodKind'] extends 'server_streaming'
    ? (request: Init<M>, options?: CallOptions) => AsyncIterableIterator<Shape<M>>
    : (requests: AsyncIterable<Init<M>>, options?: CallOptions) => AsyncIterableIterator<Shape<M>>;

export type Client<S extends DescService> = {
  readonly [K in keyof S['method']]: ClientMethod<S['method'][K]>;
};

export function createClient<S extends DescService>(service: S, channel: Channel): Client<S> {
  const client: Record<string, unknown> = {};
  for (const method of service.methods) client[method.localName] = bind(method, channel);
  return client as Client<S>;
}

function bind(method: DescMethod, channel: Channel): unknown {
  const path = pathOf(method);
  const { input, output } = method;
  const read = (bytes: Uint8Array) => decode(output, bytes, 'INTERNAL');
  switch (method.methodKind) {
    case 'unary':
      return async (request: MessageInitShape<typeof input>, options?: CallOptions) =>
        read(await channel.unary(path, encodeInit(input, request), options));
    case 'server_streaming':
      return (request: MessageInitShape<typeof input>, options?: CallOptions) =>
        mapStream(channel.stream(path, one(encodeInit(input, request)), options), read);
    case 'client_streaming':
      throw new TypeError(`${path} is client-streaming, which the contract has not`);
    case 'bidi_streaming':
      return (requests: AsyncIterable<MessageInitShape<typeof input>>, options?: CallOptions) => {
        const encoded = mapStream(requests, (init) => encodeInit(input, init));
        return mapStream(channel.stream(path, encoded, options), read);
      };
  }
}

async function* one<A>(value: A): AsyncIterable<A> {
  yield value;
}
