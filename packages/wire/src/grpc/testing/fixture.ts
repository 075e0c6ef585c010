// Servers and channels for the tests of this folder, ended with the test that opened them.

import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { type Runtime, sleep } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import {
  createPki,
  type Leaf,
  type LeafRequest,
  type Pki,
  writeMaterial,
} from '../../testing/pki.ts';
import { tlsFromFlags } from '../../tls/flags.ts';
import { TlsMaterial } from '../../tls/material.ts';
import { type FailureCode, RpcError } from '../../transport/status.ts';
import type { ByteMethod, ByteRouter, CallContext, Channel } from '../../transport/transport.ts';
import { createGrpcChannel, type GrpcChannelOptions } from '../channel.ts';
import {
  createGrpcServer,
  type GrpcServer,
  type GrpcServerOptions,
  type ServerErrorReport,
} from '../server.ts';

export const runtime: Runtime = realRuntime({ seed: 'grpc-tests' });

export const echoPath = '/t.T/Echo';

export function routes(methods: Readonly<Record<string, ByteMethod>>): ByteRouter {
  const table = new Map(Object.entries(methods));
  return { find: (path) => table.get(path) };
}

export function unary(
  handle: (request: Uint8Array, call: CallContext) => Promise<Uint8Array>,
): ByteMethod {
  return { kind: 'unary', handle };
}

export function streaming(
  handle: (requests: AsyncIterable<Uint8Array>, call: CallContext) => AsyncIterable<Uint8Array>,
): ByteMethod {
  return { kind: 'stream', handle };
}

export const echo: ByteRouter = routes({ [echoPath]: unary(async (request) => request) });

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function text(message: Uint8Array): string {
  return new TextDecoder().decode(message);
}

export interface Opened {
  readonly server: GrpcServer;
  readonly address: string;
  readonly errors: ServerErrorReport[];
  dial(options?: Partial<GrpcChannelOptions>): Channel;
}

export async function openServer(
  t: TestContext,
  options: Partial<GrpcServerOptions> = {},
): Promise<Opened> {
  const errors: ServerErrorReport[] = [];
  const server = createGrpcServer({
    runtime,
    router: echo,
    listen: ['127.0.0.1:0'],
    stopGraceMs: 50,
    onError: (report) => errors.push(report),
    ...options,
  });
  t.after(() => server.stop());
  const [address] = await server.bind();
  assert.ok(address !== undefined);
  return { server, address, errors, dial: (given) => dial(t, address, given) };
}

export function dial(
  t: TestContext,
  target: string,
  options: Partial<GrpcChannelOptions> = {},
): Channel {
  const reconnectBackoffMs = { initial: 20, max: 100 };
  const channel = createGrpcChannel({ runtime, target, reconnectBackoffMs, ...options });
  t.after(() => channel.close());
  return channel;
}

/** One CA per test process is enough where the CA is not the point. */
let sharedPki: Promise<Pki> | undefined;
export function pki(): Promise<Pki> {
  sharedPki ??= createPki();
  return sharedPki;
}

export function materialOf(t: TestContext, leaf: Leaf, caPem: string): TlsMaterial {
  const files = writeMaterial(leaf, caPem);
  t.after(() => files.remove());
  const material = tlsFromFlags({ ...files, env: {} });
  assert.ok(material instanceof TlsMaterial);
  return material;
}

export async function mint(t: TestContext, request: LeafRequest): Promise<TlsMaterial> {
  const authority = await pki();
  return materialOf(t, await authority.leaf(request), authority.caPem);
}

export async function failsWith(code: FailureCode, work: Promise<unknown>): Promise<RpcError> {
  const error = await work.then(
    (value) => assert.fail(`expected ${code}, got a result: ${String(value)}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof RpcError, `expected an RpcError, got ${String(error)}`);
  assert.equal(error.code, code, error.message);
  return error;
}

/** Polls a condition of the real world; bounded, so that a broken promise fails and not hangs. */
export async function eventually(what: string, holds: () => boolean): Promise<void> {
  for (let poll = 0; poll < 6_000; poll += 1) {
    if (holds()) return;
    await sleep(runtime, 10);
  }
  assert.fail(`never happened: ${what}`);
}

/** A bare TCP connection to a server, for what no gRPC client would send. */
export async function rawSocket(t: TestContext, address: string): Promise<Socket> {
  const port = Number(address.slice(address.lastIndexOf(':') + 1));
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  return socket;
}
