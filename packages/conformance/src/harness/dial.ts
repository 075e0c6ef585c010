// An Endpoint over a channel of wire: its own connection (local subchannel pool), retries off (a
// resent token would be fenced as a replay and the provider blamed for it), 256 MiB both ways.
// Each call has a deadline. A call ended by the run's own signal throws that signal's reason: a
// cancelled run is no finding about the provider.

import { type Runtime, withDeadline } from '@bigfleet/base';
import {
  CapacityProvider,
  type Channel,
  createClient,
  createGrpcChannel,
  type FencingToken,
  fromMap,
  type MachineList,
  RpcError,
  type TlsMaterial,
  type TransitionAck,
} from '@bigfleet/wire';
import type { Ack, Answer, Endpoint, Inventory } from './endpoint.ts';
import { stateNumber, viewOf } from './machine.ts';

const DEFAULT_CALL_DEADLINE_MS = 30_000;

export interface DialOptions extends EndpointOptions {
  readonly tls?: TlsMaterial | undefined;
}

export interface EndpointOptions {
  readonly runtime: Runtime;
  /** 'host:port', '[::1]:port' or 'unix:/path.sock'. */
  readonly target: string;
  /** Ends every call; no call starts after it. */
  readonly signal: AbortSignal;
  /** Per call; 30 s by default, multiplied by `timeScale`. */
  readonly callDeadlineMs?: number | undefined;
  readonly timeScale?: number | undefined;
}

/** Over the network; connects with the first call. */
export function dialEndpoint(options: DialOptions): Endpoint {
  return endpointOver(dialChannel(options), options);
}

/** Providers are held to their host name. */
export function dialChannel(options: Pick<DialOptions, 'runtime' | 'target' | 'tls'>): Channel {
  const { runtime, target, tls } = options;
  const secured = tls && ({ tls, serverIdentity: { kind: 'host-name-only' } } as const);
  return createGrpcChannel({ runtime, target, keepalive: 'provider', ...secured });
}

/** Over any channel; closing the endpoint closes it. */
export function endpointOver(channel: Channel, options: EndpointOptions): Endpoint {
  const { target, runtime, signal, timeScale = 1 } = options;
  const { callDeadlineMs = DEFAULT_CALL_DEADLINE_MS } = options;
  const client = createClient(CapacityProvider, channel);
  const answer = async <Message, Value>(
    read: (message: Message) => Value,
    call: (options: { readonly signal: AbortSignal }) => Promise<Message>,
  ): Promise<Answer<Value>> => {
    signal.throwIfAborted();
    const deadline = withDeadline(runtime, callDeadlineMs * timeScale, signal);
    try {
      const message = await call({ signal: deadline.signal });
      return { ok: true, value: read(message) };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RpcError)) throw error;
      return { ok: false, code: error.code, message: error.message };
    } finally {
      deadline.dispose();
    }
  };
  return {
    target,
    create: ({ machineId, token }) =>
      answer(ackOf, (call) => client.create({ machineId, ...tokenFields(token) }, call)),
    configure: ({ machineId, clusterId, blob, metadata, token }) => {
      const request = {
        machineId,
        clusterId,
        bootstrapBlob: blob ?? new Uint8Array(),
        shardMetadata: fromMap(metadata ?? new Map()),
        ...tokenFields(token),
      };
      return answer(ackOf, (call) => client.configure(request, call));
    },
    drain: ({ machineId, graceSeconds, token }) => {
      const request = { machineId, gracePeriodSeconds: graceSeconds, ...tokenFields(token) };
      return answer(ackOf, (call) => client.drain(request, call));
    },
    delete: ({ machineId, token }) =>
      answer(ackOf, (call) => client.delete({ machineId, ...tokenFields(token) }, call)),
    get: (machineId) => answer(viewOf, (call) => client.get({ id: machineId }, call)),
    list: ({ states = [], maxResults = 0, since = new Uint8Array() } = {}) => {
      const request = { states: states.map(stateNumber), maxResults, sinceRevision: since };
      return answer(inventoryOf, (call) => client.list(request, call));
    },
    close: () => channel.close(),
  };
}

function tokenFields(token: FencingToken | undefined): Partial<FencingToken> {
  if (token === undefined) return {};
  const { shardId, shardEpoch, sequenceNumber } = token;
  return { shardId, shardEpoch, sequenceNumber };
}

function inventoryOf({ machines, revision }: MachineList): Inventory {
  return { machines: machines.map(viewOf), revision };
}

function ackOf({ operationId, machine }: TransitionAck): Ack {
  return { operationId, machine: machine && viewOf(machine) };
}
