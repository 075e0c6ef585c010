// A process full of operators for wire/streams-5k: each has a channel, and so a TLS connection,
// of its own, says Hello, hears the acknowledgement, and then keeps its session open in silence.
// A session that ends before the process does is counted as lost.

import type { Runtime } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import {
  createClient,
  createGrpcChannel,
  type OperatorMessage,
  Shard,
  type ShardMessage,
  tlsFromFlags,
  type TlsMaterial,
} from '@bigfleet/wire';
import type { Answers } from '../harness/answer-questions.ts';
import type { PemFiles, StreamClientsOrder } from './child-order.ts';

/** Operators that dial at the same time; the others wait, as jittered reconnects would. */
export const DIALLING_COUNT = 16;

type Hello = Extract<OperatorMessage['payload'], { case: 'hello' }>['value'];
type Frame = { payload: { case: 'hello'; value: Pick<Hello, 'clusterId' | 'protocolVersion'> } };

interface Dialler {
  readonly clusterId: string;
  readonly material: TlsMaterial;
}

export async function openStreams(order: StreamClientsOrder): Promise<Answers> {
  const runtime = realRuntime();
  const diallers = order.operators.map(({ clusterId, tls }) => ({
    clusterId,
    material: loadMaterial(tls),
  }));
  let lostCount = 0;
  const onLost = (): void => {
    lostCount++;
  };
  return {
    open: () =>
      openAll(order, diallers, (dialler) => openOne(runtime, order.target, dialler, onLost)),
    lostCount: () => lostCount,
  };
}

/** How long each took, from the first byte to the acknowledgement, in milliseconds. */
async function openAll(
  { streamCount }: StreamClientsOrder,
  diallers: readonly Dialler[],
  open: (dialler: Dialler) => Promise<void>,
): Promise<readonly number[]> {
  const openMs: number[] = [];
  let next = 0;
  const dialInTurn = async (): Promise<void> => {
    for (let index = next++; index < streamCount; index = next++) {
      const dialler = diallers[index % diallers.length];
      if (dialler === undefined) throw new Error('streams need operators');
      const startMs = performance.now();
      await open(dialler);
      openMs.push(performance.now() - startMs);
    }
  };
  await Promise.all(Array.from({ length: DIALLING_COUNT }, dialInTurn));
  return openMs;
}

async function openOne(
  runtime: Runtime,
  target: string,
  { clusterId, material }: Dialler,
  onLost: () => void,
): Promise<void> {
  const channel = createGrpcChannel({
    runtime,
    target,
    tls: material,
    serverIdentity: { kind: 'shard' },
  });
  const answers = createClient(Shard, channel).session(helloThenSilence(clusterId));
  requireAck(await answers.next(), clusterId);
  answers.next().then(onLost, onLost);
}

async function* helloThenSilence(clusterId: string): AsyncIterable<Frame> {
  yield { payload: { case: 'hello', value: { clusterId, protocolVersion: 'v1alpha1' } } };
  await new Promise<never>(() => {});
}

function requireAck(step: IteratorResult<ShardMessage>, clusterId: string): void {
  const payload = step.done === true ? undefined : step.value.payload;
  if (payload?.case !== 'ack' || payload.value.echo !== clusterId) {
    throw new Error(`the server did not acknowledge ${clusterId}`);
  }
}

function loadMaterial(files: PemFiles): TlsMaterial {
  const material = tlsFromFlags({ ...files, requireTls: true });
  if (material === 'plaintext') throw new Error('the streams must be mTLS');
  return material;
}
