// The gRPC client of one provider. Every attempt draws its own fencing token; nothing is retried,
// here or in the channel, because a repeated token reads as a zombie. Calls without a deadline
// get one: it bounds acceptance, not the transition. List answers with the bytes as they came.

import { deadlineOf, type Runtime, withDeadline } from '@bigfleet/base';
import {
  type CallOptions,
  CapacityProvider,
  type Channel,
  decode,
  encodeInit,
  type FencingToken,
  fromMap,
  ListFilterSchema,
  MachineSchema,
  pathOf,
  type TokenSource,
  TransitionAckSchema,
} from '@bigfleet/wire';
import type {
  CallLimits,
  ConfigureOrder,
  DrainOrder,
  ListRequest,
  Provider,
  ReportedMachine,
  TransitionAck,
} from './provider.ts';
import { malformedAnswer, toProviderError } from './provider-error.ts';
import { reportedFromWire } from './wire-machine.ts';

export const CALL_DEADLINE_MS = 30_000;
/** Its own: a cold List of half a million machines does not fit a call's deadline. */
export const LIST_DEADLINE_MS = 120_000;

export interface GrpcProviderOptions {
  readonly runtime: Runtime;
  /** Retries off, as wire's channels are. The owner closes it. */
  readonly channel: Channel;
  /** One per shard process, shared by its providers. */
  readonly tokens: TokenSource;
}

const { method } = CapacityProvider;

export class GrpcProvider implements Provider {
  readonly #runtime: Runtime;
  readonly #channel: Channel;
  readonly #tokens: TokenSource;

  constructor({ runtime, channel, tokens }: GrpcProviderOptions) {
    this.#runtime = runtime;
    this.#channel = channel;
    this.#tokens = tokens;
  }

  create(machineId: string, limits?: CallLimits): Promise<TransitionAck> {
    const encode = (token: FencingToken): Uint8Array =>
      encodeInit(method.create.input, { machineId, ...token });
    return this.#mutate(pathOf(method.create), encode, limits);
  }

  configure(order: ConfigureOrder, limits?: CallLimits): Promise<TransitionAck> {
    const shardMetadata = fromMap(order.shardMetadata);
    const encode = (token: FencingToken): Uint8Array =>
      encodeInit(method.configure.input, { ...order, shardMetadata, ...token });
    return this.#mutate(pathOf(method.configure), encode, limits);
  }

  drain(order: DrainOrder, limits?: CallLimits): Promise<TransitionAck> {
    const encode = (token: FencingToken): Uint8Array =>
      encodeInit(method.drain.input, { ...order, ...token });
    return this.#mutate(pathOf(method.drain), encode, limits);
  }

  delete(machineId: string, limits?: CallLimits): Promise<TransitionAck> {
    const encode = (token: FencingToken): Uint8Array =>
      encodeInit(method.delete.input, { machineId, ...token });
    return this.#mutate(pathOf(method.delete), encode, limits);
  }

  async get(machineId: string, limits?: CallLimits): Promise<ReportedMachine> {
    const request = encodeInit(method.get.input, { id: machineId });
    const answer = await this.#call(pathOf(method.get), request, CALL_DEADLINE_MS, limits);
    return reportedFromWire(read(MachineSchema, answer));
  }

  list(request: ListRequest, limits?: CallLimits): Promise<Uint8Array> {
    const filter = encodeInit(ListFilterSchema, filterOf(request));
    return this.#call(pathOf(method.list), filter, LIST_DEADLINE_MS, limits);
  }

  async #mutate(
    path: string,
    encode: (token: FencingToken) => Uint8Array,
    limits: CallLimits | undefined,
  ): Promise<TransitionAck> {
    const answer = await this.#call(path, encode(this.#tokens.next()), CALL_DEADLINE_MS, limits);
    const { operationId, machine } = read(TransitionAckSchema, answer);
    return { operationId, machine: machine === undefined ? undefined : reportedFromWire(machine) };
  }

  async #call(
    path: string,
    request: Uint8Array,
    deadlineMs: number,
    { signal }: CallLimits = {},
  ): Promise<Uint8Array> {
    if (signal !== undefined && deadlineOf(signal) !== undefined) {
      return this.#send(path, request, { signal });
    }
    const deadline = withDeadline(this.#runtime, deadlineMs, signal);
    try {
      return await this.#send(path, request, { signal: deadline.signal });
    } finally {
      deadline.dispose();
    }
  }

  async #send(path: string, request: Uint8Array, options: CallOptions): Promise<Uint8Array> {
    try {
      return await this.#channel.unary(path, request, options);
    } catch (thrown) {
      throw toProviderError(thrown);
    }
  }
}

function filterOf(request: ListRequest): Parameters<typeof encodeInit<typeof ListFilterSchema>>[1] {
  const { states = [], maxResults = 0, sinceRevision = new Uint8Array(0) } = request;
  return { states: [...states], maxResults, sinceRevision };
}

function read<D extends typeof MachineSchema | typeof TransitionAckSchema>(
  schema: D,
  bytes: Uint8Array,
): ReturnType<typeof decode<D>> {
  try {
    return decode(schema, bytes, 'INTERNAL');
  } catch (cause) {
    throw malformedAnswer('the answer cannot be read', cause);
  }
}
