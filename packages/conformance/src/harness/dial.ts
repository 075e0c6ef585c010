// An Endpoint over a channel of wire: its own connection (local subchannel pool), retries off (a
// resent token would be fenced as a replay and the provider blamed for it), 256 MiB both ways.
// Each call has a deadline. A call ended by the run's own signal throws that signal's reason: a
// cancelled run is no finding about the provider.

import { type Runtime, withDeadline } from '@bigfleet/base';
import {
  CapacityProvider,
  type Channel,
  type Client,
  createClient,
  createGrpcChannel,
  type FencingToken,
  fromMap,
  type MachineList,
  RpcError,
  type TlsMaterial,
  type TransitionAck,
} from '@bigfleet/wire';
import type {
  Ack,
  Answer,
  ConfigureCall,
  DrainCall,
  Endpoint,
  Inventory,
  ListQuery,
  MachineCall,
} from './endpoint.ts';
import { type MachineView, stateNumber, viewOf } from './machine.ts';

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
  return new ChannelEndpoint(channel, options);
}

class ChannelEndpoint implements Endpoint {
  readonly target: string;
  readonly #channel: Channel;
  readonly #client: Client<typeof CapacityProvider>;
  readonly #runtime: Runtime;
  readonly #signal: AbortSignal;
  readonly #deadlineMs: number;

  constructor(channel: Channel, options: EndpointOptions) {
    const { callDeadlineMs = DEFAULT_CALL_DEADLINE_MS, timeScale = 1 } = options;
    this.target = options.target;
    this.#channel = channel;
    this.#client = createClient(CapacityProvider, channel);
    this.#runtime = options.runtime;
    this.#signal = options.signal;
    this.#deadlineMs = callDeadlineMs * timeScale;
  }

  create({ machineId, token }: MachineCall): Promise<Answer<Ack>> {
    return this.#answer(ackOf, (options) =>
      this.#client.create({ machineId, ...tokenFields(token) }, options),
    );
  }

  configure(call: ConfigureCall): Promise<Answer<Ack>> {
    const { machineId, clusterId, blob = new Uint8Array(), metadata = new Map(), token } = call;
    const request = {
      machineId,
      clusterId,
      bootstrapBlob: blob,
      shardMetadata: fromMap(metadata),
      ...tokenFields(token),
    };
    return this.#answer(ackOf, (options) => this.#client.configure(request, options));
  }

  drain({ machineId, graceSeconds, token }: DrainCall): Promise<Answer<Ack>> {
    const request = { machineId, gracePeriodSeconds: graceSeconds, ...tokenFields(token) };
    return this.#answer(ackOf, (options) => this.#client.drain(request, options));
  }

  delete({ machineId, token }: MachineCall): Promise<Answer<Ack>> {
    return this.#answer(ackOf, (options) =>
      this.#client.delete({ machineId, ...tokenFields(token) }, options),
    );
  }

  get(machineId: string): Promise<Answer<MachineView>> {
    return this.#answer(viewOf, (options) => this.#client.get({ id: machineId }, options));
  }

  list({
    states = [],
    maxResults = 0,
    since = new Uint8Array(),
  }: ListQuery = {}): Promise<Answer<Inventory>> {
    const request = { states: states.map(stateNumber), maxResults, sinceRevision: since };
    return this.#answer(inventoryOf, (options) => this.#client.list(request, options));
  }

  close(): void {
    this.#channel.close();
  }

  async #answer<Message, Value>(
    read: (message: Message) => Value,
    call: (options: { readonly signal: AbortSignal }) => Promise<Message>,
  ): Promise<Answer<Value>> {
    this.#signal.throwIfAborted();
    const deadline = withDeadline(this.#runtime, this.#deadlineMs, this.#signal);
    try {
      const message = await call({ signal: deadline.signal });
      return { ok: true, value: read(message) };
    } catch (error) {
      this.#signal.throwIfAborted();
      if (!(error instanceof RpcError)) throw error;
      return { ok: false, code: error.code, message: error.message };
    } finally {
      deadline.dispose();
    }
  }
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
