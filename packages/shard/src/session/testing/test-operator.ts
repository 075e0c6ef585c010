// An operator for tests: it opens the session, sends what it is told, and keeps every frame that it
// reads. It can stop reading, which is what slow peers do.

import {
  type Channel,
  createClient,
  type encodeInit,
  type OperatorMessageSchema,
  RpcError,
  Shard,
  type ShardMessage,
} from '@bigfleet/wire';

export type OperatorFrameInit = Parameters<typeof encodeInit<typeof OperatorMessageSchema>>[1];
type Payload = NonNullable<OperatorFrameInit['payload']>;
type ShardPayload = ShardMessage['payload'];
export type PayloadOf<C extends ShardPayload['case']> = Extract<ShardPayload, { case: C }>['value'];

export class TestOperator {
  /** In the order in which they were read. */
  readonly frames: ShardPayload[] = [];
  /** How the stream ended; undefined while it is open, 'OK' for an orderly end. */
  ending: RpcError | 'OK' | undefined;
  readonly #outgoing: OperatorFrameInit[] = [];
  readonly #incoming: AsyncIterableIterator<ShardMessage>;
  #wakeWriter: (() => void) | undefined;
  #wakeReader: (() => void) | undefined;
  #isReading: boolean;
  #isLeaving = false;

  constructor(channel: Channel, options: { readonly isReading?: boolean } = {}) {
    this.#isReading = options.isReading ?? true;
    this.#incoming = createClient(Shard, channel).session(this.#write());
    this.#read().then(
      () => {
        this.ending ??= 'OK';
      },
      (error: unknown) => {
        this.ending = error instanceof RpcError ? error : new RpcError('UNKNOWN', String(error));
      },
    );
  }

  hello(clusterId: string, extensions: readonly string[] = []): this {
    const value = { clusterId, protocolVersion: 'v1alpha1', extensions: [...extensions] };
    return this.send({ case: 'hello', value });
  }

  send(payload: Payload): this {
    this.#outgoing.push({ payload });
    this.#wakeWriter?.();
    return this;
  }

  /** Half-closes. */
  leave(): void {
    this.#isLeaving = true;
    this.#wakeWriter?.();
  }

  stopReading(): void {
    this.#isReading = false;
  }

  resumeReading(): void {
    this.#isReading = true;
    this.#wakeReader?.();
  }

  /** The frames of one kind, oldest first. */
  all<C extends NonNullable<ShardPayload['case']>>(kind: C): PayloadOf<C>[] {
    return this.frames.flatMap((frame) =>
      frame.case === kind ? [frame.value as PayloadOf<C>] : [],
    );
  }

  /** The echoes of the acks, oldest first. */
  get echoes(): string[] {
    return this.all('ack').map(({ echo }) => echo);
  }

  async *#write(): AsyncIterable<OperatorFrameInit> {
    for (;;) {
      const frame = this.#outgoing.shift();
      if (frame !== undefined) yield frame;
      else if (this.#isLeaving) return;
      else await new Promise<void>((resolve) => (this.#wakeWriter = resolve));
    }
  }

  async #read(): Promise<void> {
    for (;;) {
      while (!this.#isReading) await new Promise<void>((resolve) => (this.#wakeReader = resolve));
      const step = await this.#incoming.next();
      if (step.done === true) return;
      this.frames.push(step.value.payload);
    }
  }
}
