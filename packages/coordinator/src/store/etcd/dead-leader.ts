// Is the leader's process dead? (Coordinator §3.3 step 7, decision 16.) A health stream to the
// leader breaks at once when its process dies; then the address is dialled up to three times within
// 300 ms. Only when the host itself refuses every time is the process gone. A timeout, an
// unreachable host, a TLS failure or a silent peer proves nothing: those leaders are replaced when
// their lease ends.

import { connect } from 'node:net';
import { type Runtime, sleep } from '@bigfleet/base';
import { type Channel, createClient, Health } from '@bigfleet/wire';

const service = 'bigfleet.v1alpha1.Coordinator';
const redialCount = 3;
const redialEveryMs = 100;
const retryStreamMs = 500;

type DialVerdict = 'refused' | 'accepted' | 'no-answer';

export interface DeadLeaderOptions {
  readonly runtime: Runtime;
  readonly grpcAddress: string;
  /** Pings once a second: a peer that vanished must not hold the stream for ever. */
  readonly dial: (grpcAddress: string) => Channel;
}

/** Resolves when the process at the address is proved dead; else only by the signal's reason. */
export async function untilRefused(options: DeadLeaderOptions, signal: AbortSignal): Promise<void> {
  const { runtime, grpcAddress } = options;
  for (;;) {
    await untilStreamBreaks(options, signal);
    signal.throwIfAborted();
    if (await isRefusedEachTime(runtime, grpcAddress, signal)) return;
    await sleep(runtime, retryStreamMs, signal);
  }
}

async function untilStreamBreaks(
  { dial, grpcAddress }: DeadLeaderOptions,
  signal: AbortSignal,
): Promise<void> {
  const channel = dial(grpcAddress);
  try {
    const statuses = createClient(Health, channel).watch({ service }, { signal });
    for await (const _status of statuses) {
      // What it says of itself is not the question; that it answers is.
    }
  } catch (error) {
    // However it broke: the redial decides what that means.
    if (signal.aborted) throw error;
  } finally {
    channel.close();
  }
}

async function isRefusedEachTime(
  runtime: Runtime,
  grpcAddress: string,
  signal: AbortSignal,
): Promise<boolean> {
  for (let attempt = 0; attempt < redialCount; attempt += 1) {
    const began = runtime.clock.monotonicMs();
    if ((await dialOnce(runtime, grpcAddress)) !== 'refused') return false;
    const leftMs = redialEveryMs - (runtime.clock.monotonicMs() - began);
    if (attempt < redialCount - 1) await sleep(runtime, Math.max(0, leftMs), signal);
  }
  return true;
}

/** A bare TCP dial: what the kernel of that host answers, not what gRPC makes of it. */
function dialOnce(runtime: Runtime, grpcAddress: string): Promise<DialVerdict> {
  const { host, port } = splitAddress(grpcAddress);
  if (host === undefined) return Promise.resolve('no-answer');
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const finish = (verdict: DialVerdict): void => {
      timer.cancel();
      socket.destroy();
      resolve(verdict);
    };
    const timer = runtime.timers.after(redialEveryMs, () => finish('no-answer'));
    socket.once('connect', () => finish('accepted'));
    socket.once('error', (error) => finish(isRefusal(error) ? 'refused' : 'no-answer'));
  });
}

/** A name with several addresses fails with all their errors in one: every one must be a refusal. */
function isRefusal(error: unknown): boolean {
  if (error instanceof AggregateError) {
    return error.errors.length > 0 && error.errors.every(isRefusal);
  }
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
}

function splitAddress(address: string): { host: string | undefined; port: number } {
  const parsed = address.startsWith('unix:') ? null : URL.parse(`tcp://${address}`);
  if (parsed === null || parsed.port === '') return { host: undefined, port: 0 };
  return { host: parsed.hostname.replace(/^\[|\]$/g, ''), port: Number(parsed.port) };
}
