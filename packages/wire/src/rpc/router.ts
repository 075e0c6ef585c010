// Binds services to paths: precheck, identity gate, decode, handler, encode. Everything
// a transport serves passes through here, so no method can ship ungated: a path that the
// gate's table does not list is denied.
//
// Order of checks: precheck (a follower's redirect), role, decode, binding of the role's
// id to the request, handler.
//
// A handler that throws anything but an RpcError or a BigFleetError has a bug: the caller
// gets INTERNAL without details, the failure is reported, and the process lives on.

import type { DescMessage, DescMethod, DescService, Message } from '@bufbuild/protobuf';
import { decode, encodeInit, pathOf } from '../codec.ts';
import type { Gate } from './authorisation.ts';
import { RpcError, toRpcError } from '../transport/status.ts';
import type { ByteMethod, ByteRouter, CallContext } from '../transport/transport.ts';
import type { Handlers, RawStream, RawUnary } from './handlers.ts';
import { mapStream } from './map-stream.ts';

export interface RouterOptions {
  readonly gate: Gate;
  /** Runs before the identity check; what it returns ends the call. */
  readonly precheck?: (call: CallContext) => RpcError | undefined;
  /** A handler's bug. Count it and log it; the caller only learns INTERNAL. */
  readonly onPanic?: (path: string, error: unknown) => void;
}

type AnyHandler = RawUnary | RawStream | ((request: unknown, call: CallContext) => unknown);

export class Router implements ByteRouter {
  readonly #methods = new Map<string, ByteMethod>();
  readonly #services: DescService[] = [];
  readonly #options: RouterOptions;
  #panicCount = 0;

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  /** Handler bugs so far. */
  get panicCount(): number {
    return this.#panicCount;
  }

  /** What is served, for reflection. */
  get services(): readonly DescService[] {
    return this.#services;
  }

  find(path: string): ByteMethod | undefined {
    return this.#methods.get(path);
  }

  add<S extends DescService>(service: S, handlers: Handlers<S>): this {
    this.#services.push(service);
    const table = handlers as Record<string, AnyHandler>;
    for (const method of service.methods) {
      const handler = table[method.localName];
      if (handler === undefined) throw new TypeError(`no handler for ${pathOf(method)}`);
      this.#methods.set(pathOf(method), this.#bind(method, handler));
    }
    return this;
  }

  #bind(method: DescMethod, handler: AnyHandler): ByteMethod {
    if (typeof handler !== 'function') return this.#bindRaw(handler);
    switch (method.methodKind) {
      case 'unary':
        return this.#bindUnary(method, handler);
      case 'server_streaming':
        return this.#bindServerStream(method, handler);
      case 'client_streaming':
        throw new TypeError(`${pathOf(method)} is client-streaming, which the contract has not`);
      case 'bidi_streaming':
        return this.#bindBidi(method, handler);
    }
  }

  #bindUnary({ input, output }: DescMethod, handler: Fn): ByteMethod {
    return {
      kind: 'unary',
      handle: async (bytes, call) => {
        try {
          this.#admit(call);
          const request = this.#read(input, bytes, call);
          return encodeInit(output, await (handler(request, call) as Promise<Message>));
        } catch (error) {
          throw this.#failure(call, error);
        }
      },
    };
  }

  #bindServerStream({ input, output }: DescMethod, handler: Fn): ByteMethod {
    const router = this;
    return {
      kind: 'stream',
      async *handle(requests, call) {
        try {
          router.#admit(call);
          const request = router.#read(input, await onlyOne(requests), call);
          const responses = handler(request, call) as AsyncIterable<Message>;
          for await (const message of responses) yield encodeInit(output, message);
        } catch (error) {
          throw router.#failure(call, error);
        }
      },
    };
  }

  /** The busiest shape (sessions): no generator between the handler and the transport. */
  #bindBidi({ input, output }: DescMethod, handler: Fn): ByteMethod {
    return {
      kind: 'stream',
      handle: (requests, call) => {
        const fail = (error: unknown): RpcError => this.#failure(call, error);
        try {
          this.#admit(call);
          const decoded = mapStream(requests, (bytes) => this.#read(input, bytes, call));
          const responses = handler(decoded, call) as AsyncIterable<Message>;
          return mapStream(responses, (message) => encodeInit(output, message), fail);
        } catch (error) {
          throw fail(error);
        }
      },
    };
  }

  /** Raw handlers check what the gate would bind themselves; the role is still checked here. */
  #bindRaw(handler: RawUnary | RawStream): ByteMethod {
    const router = this;
    if (handler.raw === 'unary') {
      return {
        kind: 'unary',
        handle: async (bytes, call) => {
          try {
            this.#admit(call);
            return await handler.handle(bytes, call);
          } catch (error) {
            throw this.#failure(call, error);
          }
        },
      };
    }
    return {
      kind: 'stream',
      async *handle(requests, call) {
        try {
          router.#admit(call);
          yield* handler.handle(requests, call);
        } catch (error) {
          throw router.#failure(call, error);
        }
      },
    };
  }

  #admit(call: CallContext): void {
    const refused = this.#options.precheck?.(call) ?? this.#options.gate.admit(call);
    if (refused !== undefined) throw refused;
  }

  #read(schema: DescMessage, bytes: Uint8Array, call: CallContext): Message {
    const request = decode(schema, bytes, 'INVALID_ARGUMENT');
    const refused = this.#options.gate.bind(call, request);
    if (refused !== undefined) throw refused;
    return request;
  }

  #failure(call: CallContext, error: unknown): RpcError {
    const known = toRpcError(error);
    if (known !== undefined) return known;
    this.#panicCount += 1;
    this.#options.onPanic?.(call.path, error);
    return new RpcError('INTERNAL', 'internal: the server failed; see its log', { cause: error });
  }
}

type Fn = (request: unknown, call: CallContext) => unknown;

async function onlyOne(requests: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  let first: Uint8Array | undefined;
  for await (const bytes of requests) {
    if (first !== undefined) {
      throw new RpcError('INVALID_ARGUMENT', 'message_malformed: more than one request message');
    }
    first = bytes;
  }
  if (first === undefined) {
    throw new RpcError('INVALID_ARGUMENT', 'message_malformed: no request message');
  }
  return first;
}
