// What the behaviour suite needs of a transport: a server, channels to it, a way to cut the wire,
// and time. A world runs test bodies to their end under its own time, so the same body runs
// under virtual time in memory and under real time over sockets.

import assert from 'node:assert/strict';
import { type Runtime, sleep } from '@bigfleet/base';
import { type FailureCode, RpcError } from '../../transport/status.ts';
import type { ByteMethod, ByteRouter, CallContext, Channel } from '../../transport/transport.ts';

export interface World {
  readonly runtime: Runtime;
  /** The largest message that may be sent. */
  readonly limitBytes: number;
  serve(router: ByteRouter, options?: ServeOptions): Promise<Served>;
  /** A channel to an address where nobody listens. */
  connectToNobody(): Channel;
  /** Rejects instead of hanging when the body waits and nothing can happen any more. */
  run(body: () => Promise<void>): Promise<void>;
  /** Stops what is left, and fails when something leaked. */
  close(): Promise<void>;
}

export interface ServeOptions {
  readonly stopGraceMs?: number;
}

export interface Served {
  readonly connect: () => Channel;
  readonly stop: () => Promise<void>;
  /** Every connection to this server breaks, as if the other process had died. */
  readonly cut: () => void;
}

export type OpenWorld = () => Promise<World>;

export async function inWorld(
  open: OpenWorld,
  body: (world: World) => Promise<void>,
): Promise<void> {
  const world = await open();
  try {
    await world.run(() => body(world));
  } finally {
    await world.close();
  }
}

export function routes(methods: Readonly<Record<string, ByteMethod>>): ByteRouter {
  const table = new Map(Object.entries(methods));
  return { find: (path) => table.get(path) };
}

export function unaryMethod(
  handle: (request: Uint8Array, call: CallContext) => Promise<Uint8Array>,
): ByteMethod {
  return { kind: 'unary', handle };
}

export function streamMethod(
  handle: (requests: AsyncIterable<Uint8Array>, call: CallContext) => AsyncIterable<Uint8Array>,
): ByteMethod {
  return { kind: 'stream', handle };
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function text(message: Uint8Array): string {
  return new TextDecoder().decode(message);
}

export async function* of(...messages: readonly string[]): AsyncIterable<Uint8Array> {
  for (const message of messages) yield bytes(message);
}

/** Requests that stay open until the signal says otherwise. */
export function never(signal: AbortSignal): AsyncIterable<Uint8Array> {
  const next = async (): Promise<IteratorReturnResult<undefined>> => {
    await aborted(signal);
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

export async function collect(messages: AsyncIterable<Uint8Array>): Promise<string[]> {
  const texts: string[] = [];
  for await (const message of messages) texts.push(text(message));
  return texts;
}

/** The one failure that every transport error must be; returns it for further questions. */
export async function failsWith(code: FailureCode, work: Promise<unknown>): Promise<RpcError> {
  const error = await work.then(
    (value) => assert.fail(`expected ${code}, got a result: ${String(value)}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof RpcError, `expected an RpcError, got ${String(error)}`);
  assert.equal(error.code, code, error.message);
  return error;
}

const POLL_MS = 10;
const STABLE_POLLS = 10;
const MAX_POLLS = 6_000;

export async function eventually(
  world: Pick<World, 'runtime'>,
  what: string,
  holds: () => boolean,
): Promise<void> {
  for (let poll = 0; poll < MAX_POLLS; poll += 1) {
    if (holds()) return;
    await sleep(world.runtime, POLL_MS);
  }
  assert.fail(`never happened: ${what}`);
}

/** Waits until a count stops growing, and returns it. */
export async function plateau(world: World, count: () => number): Promise<number> {
  let last = count();
  let stable = 0;
  for (let poll = 0; poll < MAX_POLLS && stable < STABLE_POLLS; poll += 1) {
    await sleep(world.runtime, POLL_MS);
    const now = count();
    stable = now === last ? stable + 1 : 0;
    last = now;
  }
  assert.equal(stable, STABLE_POLLS, `still growing at ${last}`);
  return last;
}
