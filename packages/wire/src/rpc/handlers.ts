// A service is a plain object of handlers: a promise for unary, async iterables for
// streams. No transport type appears in them, so the same object is served over the
// network and in memory. The contract has no client-streaming method.

import type { DescMethod, DescService, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { CallContext } from '../transport/transport.ts';

type In<M extends DescMethod> = MessageShape<M['input']>;
type Out<M extends DescMethod> = MessageInitShape<M['output']>;

type UnaryHandler<M extends DescMethod> = (request: In<M>, call: CallContext) => Promise<Out<M>>;
type ServerStreamHandler<M extends DescMethod> = (
  request: In<M>,
  call: CallContext,
) => AsyncIterable<Out<M>>;
type BidiHandler<M extends DescMethod> = (
  requests: AsyncIterable<In<M>>,
  call: CallContext,
) => AsyncIterable<Out<M>>;

export type Handler<M extends DescMethod> = M['methodKind'] extends 'unary'
  ? UnaryHandler<M> | RawUnary
  : M['methodKind'] extends 'server_streaming'
    ? ServerStreamHandler<M> | RawStream
    : BidiHandler<M> | RawStream;

export type Handlers<S extends DescService> = {
  readonly [K in keyof S['method']]: Handler<S['method'][K]>;
};

/** A unary method that wants the bytes: it decodes (or does not) where and when it likes. */
export interface RawUnary {
  readonly raw: 'unary';
  handle(request: Uint8Array, call: CallContext): Promise<Uint8Array>;
}

/** A streaming method that wants the bytes; a server-streaming one gets exactly one request. */
export interface RawStream {
  readonly raw: 'stream';
  handle(requests: AsyncIterable<Uint8Array>, call: CallContext): AsyncIterable<Uint8Array>;
}

export function rawUnary(handle: RawUnary['handle']): RawUnary {
  return { raw: 'unary', handle };
}

export function rawStream(handle: RawStream['handle']): RawStream {
  return { raw: 'stream', handle };
}
