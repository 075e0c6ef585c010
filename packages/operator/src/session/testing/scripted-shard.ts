// A shard for tests: it answers as shard §4 says unless told otherwise, records every frame, and can
// be made slow, silent, classic or insane. Frames are raw bytes, so that it can also send garbage.

import {
  type ByteRouter,
  type CallContext,
  decode,
  encodeInit,
  type Gate,
  openGate,
  type OperatorMessage,
  OperatorMessageSchema,
  rawStream,
  Router,
  RpcError,
  Shard,
  ShardMessageSchema,
} from '@bigfleet/wire';

export type ShardFrame = Parameters<typeof encodeInit<typeof ShardMessageSchema>>[1];
type Payload = OperatorMessage['payload'];
type PayloadOf<C extends Payload['case']> = Extract<Payload, { case: C }>['value'];

export interface ShardBehaviour {
  /** What the hello ack names; undefined: no hello ack at all. */
  extensions: readonly string[] | undefined;
  /** The answer to each roll-up; undefined: none. */
  echo: 'rollup' | 'rollup-held' | undefined;
  /** Whether the hello ack is followed by the resync marker. */
  resyncs: boolean;
  /** Stops pulling, as a stalled process would. */
  isReading: boolean;
}

export class ScriptedShard {
  readonly sessions: ShardSession[] = [];
  /** After the shard's own answer. */
  onMessage: (session: ShardSession, message: OperatorMessage) => void = () => {};
  readonly behaviour: ShardBehaviour = {
    extensions: ['reclaim-completion', 'node-identity'],
    echo: 'rollup',
    resyncs: true,
    isReading: true,
  };
  readonly router: ByteRouter;
  readonly #gate: Gate;

  constructor(gate: Gate = openGate) {
    this.#gate = gate;
    this.router = new Router({ gate }).add(Shard, {
      session: rawStream((requests, call) => this.#open(requests, call)),
    });
  }

  /** The newest session. */
  get session(): ShardSession {
    const session = this.sessions.at(-1);
    if (session === undefined) throw new Error('nobody has dialled yet');
    return session;
  }

  /** Lets every session pull again. */
  resumeReading(): void {
    this.behaviour.isReading = true;
    for (const session of this.sessions) session.wake();
  }

  #open(requests: AsyncIterable<Uint8Array>, call: CallContext): AsyncIterable<Uint8Array> {
    const session = new ShardSession(this.behaviour, {
      admit: (message) => this.#gate.bind(call, message),
      onMessage: (message) => {
        if (message.payload.case === 'hello') this.#replace(message.payload.value.clusterId);
        this.onMessage(session, message);
      },
    });
    this.sessions.push(session);
    return session.serve(requests);
  }

  #replace(clusterId: string): void {
    for (const other of this.sessions.slice(0, -1)) {
      if (other.clusterId === clusterId && !other.isOver)
        other.end(new RpcError('ABORTED', 'session replaced'));
    }
  }
}

interface SessionHooks {
  /** Before anything else; a refusal ends the session. */
  readonly admit: (message: OperatorMessage) => RpcError | undefined;
  /** After the shard's own answer. */
  readonly onMessage: (message: OperatorMessage) => void;
}

export class ShardSession {
  readonly received: OperatorMessage[] = [];
  clusterId: string | undefined;
  isOver = false;
  reading: Promise<void> = Promise.resolve();
  readonly #behaviour: ShardBehaviour;
  readonly #hooks: SessionHooks;
  readonly #outbox: Uint8Array[] = [];
  #failure: RpcError | undefined;
  #hasEnded = false;
  #wakeSender: (() => void) | undefined;
  #wakeReader: (() => void) | undefined;

  constructor(behaviour: ShardBehaviour, hooks: SessionHooks) {
    this.#behaviour = behaviour;
    this.#hooks = hooks;
  }

  send(frame: NonNullable<ShardFrame['payload']>): void {
    this.sendBytes(encodeInit(ShardMessageSchema, { payload: frame }));
  }

  sendBytes(bytes: Uint8Array): void {
    this.#outbox.push(bytes);
    this.wake();
  }

  ack(echo: string, extensions: readonly string[] = []): void {
    this.send({ case: 'ack', value: { echo, extensions: [...extensions] } });
  }

  end(failure?: RpcError): void {
    this.#failure = failure;
    this.#hasEnded = true;
    this.wake();
  }

  /** The frames of one kind, in order. */
  all<C extends NonNullable<Payload['case']>>(kind: C): PayloadOf<C>[] {
    return this.received.flatMap(({ payload }) =>
      payload.case === kind ? [payload.value as PayloadOf<C>] : [],
    );
  }

  get kinds(): (string | undefined)[] {
    return this.received.map(({ payload }) => payload.case);
  }

  wake(): void {
    this.#wakeSender?.();
    this.#wakeReader?.();
  }

  async *serve(requests: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    // Ends with the call: the transport ends the requests when the responses are over.
    this.reading = this.#read(requests);
    try {
      for (;;) {
        const bytes = this.#outbox.shift();
        if (bytes !== undefined) yield bytes;
        else if (this.#hasEnded) break;
        else await new Promise<void>((resolve) => (this.#wakeSender = resolve));
      }
      if (this.#failure !== undefined) throw this.#failure;
    } finally {
      this.isOver = true;
      this.wake();
    }
  }

  async #read(requests: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const bytes of requests) {
        this.#receive(decode(OperatorMessageSchema, bytes, 'INVALID_ARGUMENT'));
        while (!this.#behaviour.isReading && !this.isOver) {
          await new Promise<void>((resolve) => (this.#wakeReader = resolve));
        }
        if (this.isOver) return;
      }
      this.end();
    } catch (thrown) {
      if (!(thrown instanceof RpcError)) throw thrown;
      this.end();
    }
  }

  #receive(message: OperatorMessage): void {
    this.received.push(message);
    const refused = this.#hooks.admit(message);
    if (refused !== undefined) {
      this.end(refused);
      return;
    }
    const { payload } = message;
    const { extensions, echo, resyncs } = this.#behaviour;
    if (payload.case === 'hello' && extensions !== undefined) {
      this.clusterId = payload.value.clusterId;
      this.ack('hello', extensions);
      if (resyncs) this.ack('resync');
    } else if (payload.case === 'rollup' && echo !== undefined) this.ack(echo);
    this.#hooks.onMessage(message);
  }
}
