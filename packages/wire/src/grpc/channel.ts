// The client's end on the network: one target, one connection, reconnecting with a bounded
// back-off. Nothing is retried here: a transparent retry would resend a fencing token, and
// the provider would read a zombie (shard §2.6). No service config, no proxy from the
// environment, no connection shared with another channel.

import { assert, deadlineOf, type Runtime } from '@bigfleet/base';
import {
  ChannelCredentials,
  type ChannelOptions,
  Channel as GrpcChannelImpl,
  type Metadata as GrpcMetadata,
} from '@grpc/grpc-js';
import type { ServerIdentityRule } from '../tls/server-identity.ts';
import type { TlsMaterial } from '../tls/material.ts';
import { RpcError } from '../transport/status.ts';
import type { CallOptions, Channel } from '../transport/transport.ts';
import {
  abortError,
  checkSize,
  type ClientCall,
  type ClientCallSetup,
  StreamClientCall,
  UnaryClientCall,
  type WireCall,
} from './client-call.ts';
import { failedInbox } from './inbox.ts';
import {
  clientWriteBufferBytes,
  defaultUnaryDeadlineMs,
  initialReconnectBackoffMs,
  type Keepalive,
  keepaliveOptions,
  type KeepalivePreset,
  maxMessageBytes,
  maxReconnectBackoffMs,
} from './limits.ts';
import { hostOf, isUnixTarget } from './listen-address.ts';
import { toGrpc } from './metadata.ts';
import { TlsChannelCredentials } from './tls-credentials.ts';
import './closed-channels.ts';
import { patchedOption } from './patch-method.ts';

export interface GrpcChannelOptions {
  readonly runtime: Runtime;
  /** 'host:port', or 'unix:/path.sock', where TLS is off (security §1.1). */
  readonly target: string;
  readonly tls?: TlsMaterial;
  /** Required with TLS: who the server must be (security §3.2). */
  readonly serverIdentity?: ServerIdentityRule;
  /** The host name that the server's certificate must carry, when it is not the target's. */
  readonly serverName?: string;
  /** Default 'session'. */
  readonly keepalive?: KeepalivePreset | Keepalive;
  /** For unary calls whose signal carries no deadline. Default 30 s. */
  readonly unaryDeadlineMs?: number;
  readonly reconnectBackoffMs?: { readonly initial: number; readonly max: number };
  /** A request iterable that failed while it was being ended; no call is left to tell. */
  readonly onError?: (error: unknown) => void;
}

export function createGrpcChannel(options: GrpcChannelOptions): Channel {
  return new NetworkChannel(options);
}

class NetworkChannel implements Channel {
  readonly #runtime: Runtime;
  readonly #channel: GrpcChannelImpl;
  readonly #calls = new Set<ClientCall>();
  /**
   * By what a call knows of its own connection: grpc-js makes the security context of a connection
   * once and hands the same object to every call on it. The library names a call's peer by address
   * only, which a restarted server has in common with its predecessor.
   */
  readonly #connectionNumbers = new WeakMap<object, number>();
  #connectionCount = 0;
  readonly #unaryDeadlineMs: number;
  readonly #onError: (error: unknown) => void;
  #closed = false;

  constructor(options: GrpcChannelOptions) {
    this.#runtime = options.runtime;
    this.#unaryDeadlineMs = options.unaryDeadlineMs ?? defaultUnaryDeadlineMs;
    this.#onError = options.onError ?? (() => {});
    this.#channel = new GrpcChannelImpl(
      options.target,
      credentialsOf(options),
      channelOptionsOf(options),
    );
  }

  unary(path: string, request: Uint8Array, options?: CallOptions): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const metadata = this.#metadataOrRefusal(options);
      if (metadata instanceof RpcError) return reject(metadata);
      const tooLarge = checkSize(request);
      if (tooLarge !== undefined) return reject(tooLarge);
      const setup = this.#open(path, options, this.#unaryDeadlineMs);
      new UnaryClientCall(setup, resolve, reject).start(metadata, request);
    });
  }

  stream(
    path: string,
    requests: AsyncIterable<Uint8Array>,
    options?: CallOptions,
  ): AsyncIterableIterator<Uint8Array> {
    const metadata = this.#metadataOrRefusal(options);
    if (metadata instanceof RpcError) return failedInbox(metadata);
    const setup = this.#open(path, options, undefined);
    const call = new StreamClientCall(setup, requests, this.#onError);
    call.start(metadata);
    return call.responses;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const call of this.#calls) call.cancel(new RpcError('CANCELLED', 'the channel is closed'));
    this.#channel.close();
  }

  /** Everything that can be wrong with a call before it is made. */
  #metadataOrRefusal({ signal, metadata }: CallOptions = {}): GrpcMetadata | RpcError {
    if (this.#closed) return new RpcError('CANCELLED', 'the channel is closed');
    if (signal?.aborted === true) return abortError(signal.reason);
    try {
      return toGrpc(metadata);
    } catch (error) {
      if (error instanceof RpcError) return error;
      throw error;
    }
  }

  #open(
    path: string,
    { signal, onConnection }: CallOptions = {},
    defaultDeadlineMs: number | undefined,
  ): ClientCallSetup {
    const deadline = this.#deadline(signal, defaultDeadlineMs);
    const wire = this.#channel.createCall(path, deadline, undefined, null, undefined);
    const onAnswering = onConnection === undefined ? undefined : this.#numbering(onConnection);
    return { wire, signal, registry: this.#calls, onAnswering };
  }

  #numbering(onConnection: (connection: number) => void): (call: WireCall) => void {
    return (call) => {
      const context = call.getAuthContext();
      if (context === null) return;
      const number = this.#connectionNumbers.get(context) ?? ++this.#connectionCount;
      this.#connectionNumbers.set(context, number);
      onConnection(number);
    };
  }

  /** In wall-clock milliseconds, which is what grpc-js compares with. */
  #deadline(signal: AbortSignal | undefined, defaultDeadlineMs: number | undefined): number {
    const { clock } = this.#runtime;
    const carried = signal === undefined ? undefined : deadlineOf(signal);
    const remainingMs = carried === undefined ? defaultDeadlineMs : carried - clock.monotonicMs();
    if (remainingMs === undefined) return Number.POSITIVE_INFINITY;
    return Number(clock.unixNanos() / 1_000_000n) + remainingMs;
  }
}

function credentialsOf(options: GrpcChannelOptions): ChannelCredentials {
  const { tls, serverIdentity, serverName, target } = options;
  if (tls === undefined || isUnixTarget(target)) return ChannelCredentials.createInsecure();
  assert(serverIdentity !== undefined, 'a TLS channel must say who its server is', { target });
  const host = serverName ?? hostOf(target);
  return new TlsChannelCredentials({ material: tls, rule: serverIdentity, host });
}

function channelOptionsOf(options: GrpcChannelOptions): ChannelOptions {
  const { keepalive = 'session', reconnectBackoffMs } = options;
  return {
    ...keepaliveOptions(keepalive),
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.enable_retries': 0,
    'grpc.service_config_disable_resolution': 1,
    'grpc.enable_http_proxy': 0,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.initial_reconnect_backoff_ms': reconnectBackoffMs?.initial ?? initialReconnectBackoffMs,
    'grpc.max_reconnect_backoff_ms': reconnectBackoffMs?.max ?? maxReconnectBackoffMs,
    'grpc.per_rpc_retry_buffer_size': clientWriteBufferBytes,
    'grpc.enable_channelz': 0,
    [patchedOption]: 1,
  };
}
