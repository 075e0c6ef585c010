// One operator of a bench: a connection of its own, Hello, roll-ups as ready bytes, and an answer to
// every bootstrap request. It negotiates nothing, so drains are the shard's business alone. A
// roll-up is over when the shard acknowledged it; the next one waits for that.

import { BoundedQueue } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import {
  type Channel,
  createGrpcChannel,
  decode,
  ShardMessageSchema,
  type TlsMaterial,
} from '@bigfleet/wire';
import { blobFrame, helloFrame } from './wire-rollup.ts';

const SESSION = '/bigfleet.v1alpha1.Shard/Session';
/** `ShardMessage.ack`: what a session waits for; other frames are not even decoded. */
const ACK_TAG = 0x0a;
const BOOTSTRAP_TAG = 0x12;
const MAX_WAITING_FRAMES = 4_096;

export interface OperatorSessionOptions {
  readonly clusterId: string;
  readonly target: string;
  readonly tls: TlsMaterial;
}

export class OperatorSession {
  readonly clusterId: string;
  readonly #channel: Channel;
  readonly #frames = new Outbound();
  readonly #isOpen: Promise<void>;
  #acked: PromiseWithResolvers<void> = Promise.withResolvers();
  #lost: Error | undefined;
  bootstrapCount = 0;

  constructor({ clusterId, target, tls }: OperatorSessionOptions) {
    this.clusterId = clusterId;
    this.#channel = createGrpcChannel({
      runtime: realRuntime(),
      target,
      tls,
      serverIdentity: { kind: 'shard' },
    });
    this.#isOpen = this.#acked.promise;
    this.#frames.push(helloFrame(clusterId));
    this.#read().catch((error: unknown) => {
      this.#lost = error instanceof Error ? error : new Error(String(error));
      this.#acked.reject(this.#lost);
    });
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  /** Acknowledged. */
  opened(): Promise<void> {
    return this.#isOpen;
  }

  /** Resolves with the acknowledgement. */
  async rollup(frame: Uint8Array): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    this.#acked = Promise.withResolvers();
    this.#frames.push(frame);
    await this.#acked.promise;
  }

  async #read(): Promise<void> {
    for await (const bytes of this.#channel.stream(SESSION, this.#frames)) this.#frame(bytes);
    throw new Error(`${this.clusterId}: the shard ended the session`);
  }

  #frame(bytes: Uint8Array): void {
    const [tag] = bytes;
    if (tag !== ACK_TAG && tag !== BOOTSTRAP_TAG) return;
    const { payload } = decode(ShardMessageSchema, bytes, 'INTERNAL');
    if (payload.case === 'bootstrapRequest') {
      this.bootstrapCount += 1;
      this.#frames.push(blobFrame(payload.value.requestId));
    } else if (payload.case === 'ack') this.#acknowledged(payload.value.echo);
  }

  #acknowledged(echo: string): void {
    if (echo === 'rollup' || echo === 'hello') this.#acked.resolve();
    if (echo === 'rollup-held') this.#acked.reject(new Error(`${this.clusterId}: was held`));
  }
}

/** Frames on their way out, in order. */
class Outbound implements AsyncIterable<Uint8Array> {
  readonly #queue = new BoundedQueue<Uint8Array>({
    capacity: MAX_WAITING_FRAMES,
    overflow: 'refuse',
  });
  #wake: () => void = () => {};

  push(frame: Uint8Array): void {
    if (this.#queue.push(frame) === 'refused') throw new Error('the shard reads no more');
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    for (;;) {
      const frame = this.#queue.shift();
      if (frame !== undefined) yield frame;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
