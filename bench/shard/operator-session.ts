// One operator of a bench: a connection of its own, Hello, roll-ups as ready bytes, and an answer to
// every bootstrap request. It negotiates nothing, so drains are the shard's business alone. A
// roll-up is over when the shard acknowledged it; the next one waits for that.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { decode, ShardMessageSchema } from '@bigfleet/wire';
import { H2Stream } from './h2-stream.ts';
import { blobFrame, helloFrame } from './wire-rollup.ts';

const SESSION = '/bigfleet.v1alpha1.Shard/Session';
/** `ShardMessage.ack`: what a session waits for; other frames are not even looked at. */
const ACK_TAG = 0x0a;
const BOOTSTRAP_TAG = 0x12;
/** `Acknowledgement.echo`, the first field of a short message. */
const ECHO_TAG = 0x0a;
const ECHO_AT = 4;

export interface OperatorSessionOptions {
  readonly clusterId: string;
  /** 'host:port'. */
  readonly target: string;
  /** Holds `<cluster>.crt`, `<cluster>.key` and `ca.crt`. */
  readonly certificates: string;
}

export class OperatorSession {
  readonly clusterId: string;
  readonly #stream: H2Stream;
  readonly #isOpen: Promise<void>;
  #acked: PromiseWithResolvers<void> = Promise.withResolvers();
  #lost: Error | undefined;
  bootstrapCount = 0;

  constructor({ clusterId, target, certificates }: OperatorSessionOptions) {
    this.clusterId = clusterId;
    const { hostname, port } = new URL(`https://${target}`);
    this.#isOpen = this.#acked.promise;
    this.#stream = new H2Stream({
      host: hostname,
      port: Number(port),
      path: SESSION,
      cert: readFileSync(path.join(certificates, `${clusterId}.crt`)),
      key: readFileSync(path.join(certificates, `${clusterId}.key`)),
      ca: readFileSync(path.join(certificates, 'ca.crt')),
      onMessage: (bytes) => this.#frame(bytes),
      onEnd: (error) => {
        this.#lost = new Error(`${clusterId}: ${error.message}`, { cause: error });
        this.#acked.reject(this.#lost);
      },
    });
    this.#stream.send(H2Stream.framesOf(helloFrame(clusterId)));
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  /** Acknowledged. */
  opened(): Promise<void> {
    return this.#isOpen;
  }

  /** Takes what `H2Stream.framesOf` made; resolves with the acknowledgement. */
  async rollup(body: Buffer): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    this.#acked = Promise.withResolvers();
    this.#stream.send(body);
    await this.#acked.promise;
  }

  #frame(bytes: Buffer): void {
    if (bytes[0] === ACK_TAG) this.#acknowledged(echoOf(bytes));
    if (bytes[0] !== BOOTSTRAP_TAG) return;
    const { payload } = decode(ShardMessageSchema, bytes, 'INTERNAL');
    if (payload.case !== 'bootstrapRequest') throw new Error('no bootstrap request after its tag');
    this.bootstrapCount += 1;
    this.#stream.send(H2Stream.framesOf(blobFrame(payload.value.requestId)));
  }

  #acknowledged(echo: string): void {
    if (echo === 'rollup' || echo === 'hello') this.#acked.resolve();
    if (echo === 'rollup-held') this.#acked.reject(new Error(`${this.clusterId}: was held`));
  }
}

/** Read in place: decoding the acknowledgement would cost the bench more than sending the roll-up. */
function echoOf(bytes: Buffer): string {
  if (bytes[2] !== ECHO_TAG) throw new Error('an acknowledgement without its echo in front');
  return bytes.toString('latin1', ECHO_AT, ECHO_AT + bytes[ECHO_AT - 1]!);
}
