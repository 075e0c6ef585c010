// The reference: @grpc/grpc-js used directly, in the way that costs it least. Our codec as its
// serialisers, events instead of iterators, and write() and 'drain' for flow control. It runs with
// the library options of our adapter (message limits, no channelz, no retries, a deadline per
// unary call), so that the ratio shows what our adapter adds and not what it configures.

import {
  type ChannelOptions,
  Client,
  ChannelCredentials,
  type handleBidiStreamingCall,
  type handleUnaryCall,
  type MethodDefinition,
  Server,
  ServerCredentials,
  status,
} from '@grpc/grpc-js';
import {
  CapacityProvider,
  decode,
  encodeInit,
  type Machine,
  type MachineRef,
  MachineRefSchema,
  MachineSchema,
  maxMessageBytes,
  type OperatorMessage,
  OperatorMessageSchema,
  pathOf,
  Shard,
  ShardMessageSchema,
  type ShardMessage,
} from '@bigfleet/wire';
import type { Flight } from './flight.ts';
import type { Service } from './service.ts';
import type { ClientSide } from './side.ts';

/** Our adapter's default. */
const UNARY_DEADLINE_MS = 30_000;

const LIMITS: ChannelOptions = {
  'grpc.max_receive_message_length': maxMessageBytes,
  'grpc.max_send_message_length': maxMessageBytes,
  'grpc.enable_channelz': 0,
};
const CLIENT_OPTIONS: ChannelOptions = {
  ...LIMITS,
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.use_local_subchannel_pool': 1,
};

type ShardAnswer = ReturnType<Service['answer']>;
/** An initialiser, as our client takes it. */
type GetRequest = Pick<MachineRef, 'id'>;

const get: MethodDefinition<GetRequest, Machine> = {
  path: pathOf(CapacityProvider.method.get),
  requestStream: false,
  responseStream: false,
  requestSerialize: (message) => toBuffer(encodeInit(MachineRefSchema, message)),
  requestDeserialize: (bytes) => decode(MachineRefSchema, bytes, 'INVALID_ARGUMENT'),
  responseSerialize: (message) => toBuffer(encodeInit(MachineSchema, message)),
  responseDeserialize: (bytes) => decode(MachineSchema, bytes, 'INTERNAL'),
};

const readAnswer = (bytes: Buffer): ShardMessage => decode(ShardMessageSchema, bytes, 'INTERNAL');

const session: MethodDefinition<OperatorMessage, ShardAnswer> = {
  path: pathOf(Shard.method.session),
  requestStream: true,
  responseStream: true,
  requestSerialize: (message) => toBuffer(encodeInit(OperatorMessageSchema, message)),
  requestDeserialize: (bytes) => decode(OperatorMessageSchema, bytes, 'INVALID_ARGUMENT'),
  responseSerialize: (message) => toBuffer(encodeInit(ShardMessageSchema, message)),
  responseDeserialize: readAnswer,
};

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Resolves with the address that it listens on. */
export async function serveBare(service: Service): Promise<string> {
  const server = new Server(LIMITS);
  server.addService({ get, session }, { get: getHandler(service), session: answering(service) });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return `127.0.0.1:${port}`;
}

function getHandler(service: Service): handleUnaryCall<GetRequest, Machine> {
  return (call, respond) => {
    try {
      respond(null, service.get(call.request.id));
    } catch (error) {
      respond({ code: status.NOT_FOUND, details: toError(error).message });
    }
  };
}

function answering(service: Service): handleBidiStreamingCall<OperatorMessage, ShardAnswer> {
  return (call) => {
    call.on('data', (request: OperatorMessage) => {
      try {
        if (call.write(service.answer(request))) return;
      } catch (error) {
        call.destroy(toError(error));
        return;
      }
      call.pause();
      call.once('drain', () => call.resume());
    });
    call.on('end', () => call.end());
  };
}

export function dialBare(address: string): ClientSide {
  const client = new Client(address, ChannelCredentials.createInsecure(), CLIENT_OPTIONS);
  return {
    get: (id) => callGet(client, { id }),
    fly: (flight) => flyBare(client, flight),
    close: () => client.close(),
  };
}

function callGet(client: Client, request: GetRequest): Promise<Machine> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      get.path,
      get.requestSerialize,
      get.responseDeserialize,
      request,
      { deadline: Date.now() + UNARY_DEADLINE_MS },
      (error, machine) => {
        if (machine !== undefined) resolve(machine);
        else reject(error ?? new Error('neither a machine nor an error'));
      },
    );
  });
}

function flyBare(client: Client, flight: Flight): Promise<void> {
  return new Promise((resolve, reject) => {
    const { requestSerialize } = session;
    const call = client.makeBidiStreamRequest(session.path, requestSerialize, readAnswer);
    let blocked = false;
    const fill = (): void => {
      while (!blocked && flight.hasRoom) blocked = !call.write(flight.send());
      if (flight.allSent && !call.writableEnded) call.end();
    };
    call.on('drain', () => {
      blocked = false;
      fill();
    });
    call.on('data', (answer: ShardMessage) => {
      try {
        flight.answer(answer);
        fill();
      } catch (error) {
        call.cancel();
        reject(toError(error));
      }
    });
    call.on('error', reject);
    call.on('end', resolve);
    fill();
  });
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
