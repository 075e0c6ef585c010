// The gRPC client of one provider. Every attempt draws its own fencing token; call.ts has the rules
// of one attempt, and the one call that another thread may make instead.

import {
  CapacityProvider,
  decode,
  encodeInit,
  type FencingToken,
  fromMap,
  MachineSchema,
  pathOf,
  type TokenSource,
  TransitionAckSchema,
} from '@bigfleet/wire';
import { callProvider, type Line, listProvider } from './call.ts';
import { malformedAnswer } from './provider-error.ts';
import type {
  CallLimits,
  ConfigureOrder,
  DrainOrder,
  ListRequest,
  Provider,
  ReportedMachine,
  TransitionAck,
} from './provider.ts';
import { reportedFromWire } from './wire-machine.ts';

export const CALL_DEADLINE_MS = 30_000;

export interface GrpcProviderOptions extends Line {
  /** One per shard process, shared by its providers. */
  readonly tokens: TokenSource;
}

const { method } = CapacityProvider;

export class GrpcProvider implements Provider {
  readonly #line: Line;
  readonly #tokens: TokenSource;

  constructor({ runtime, channel, tokens }: GrpcProviderOptions) {
    this.#line = { runtime, channel };
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
    const answer = await this.#call(pathOf(method.get), request, limits);
    return reportedFromWire(read(MachineSchema, answer));
  }

  list(request: ListRequest, limits?: CallLimits): Promise<Uint8Array> {
    return listProvider(this.#line, request, limits);
  }

  async #mutate(
    path: string,
    encode: (token: FencingToken) => Uint8Array,
    limits: CallLimits | undefined,
  ): Promise<TransitionAck> {
    const answer = await this.#call(path, encode(this.#tokens.next()), limits);
    const { operationId, machine } = read(TransitionAckSchema, answer);
    return { operationId, machine: machine === undefined ? undefined : reportedFromWire(machine) };
  }

  #call(path: string, request: Uint8Array, limits: CallLimits | undefined): Promise<Uint8Array> {
    return callProvider(this.#line, { path, request, deadlineMs: CALL_DEADLINE_MS }, limits);
  }
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
