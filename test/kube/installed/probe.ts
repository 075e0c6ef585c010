// Probes as a kubelet runs them: over HTTP and gRPC, with delay, period and thresholds.

import { realRuntime } from '@bigfleet/base/real';
import { createClient, createGrpcChannel, Health } from '@bigfleet/wire';
import { http, sleep, withDeadline } from '../../toolkit/index.ts';
import type { ContainerObject, ProbeObject } from './pod.ts';

const runtime = realRuntime();
const SERVING = 1;
/** A kubelet waits a second; a busy test machine is no slow cluster. */
const ANSWER_MS = 10_000;
const SECOND_MS = 1_000;

export interface Probing {
  readonly probe: ProbeObject;
  readonly check: () => Promise<boolean>;
  /** Told whenever a threshold is reached, again and again. */
  readonly decided: (isGood: boolean) => void;
  readonly signal: AbortSignal;
}

/** Until the signal aborts. */
export async function runProbe({ probe, check, decided, signal }: Probing): Promise<void> {
  const { initialDelaySeconds = 0, periodSeconds = 10 } = probe;
  const thresholds = [probe.failureThreshold ?? 3, probe.successThreshold ?? 1];
  let was: boolean | undefined;
  let streak = 0;
  await rest(initialDelaySeconds * SECOND_MS, signal);
  while (!signal.aborted) {
    const isGood = await check();
    streak = isGood === was ? streak + 1 : 1;
    was = isGood;
    if (streak >= (thresholds[Number(isGood)] ?? 1)) decided(isGood);
    await rest(periodSeconds * SECOND_MS, signal);
  }
}

/** Ends early, without a word, when the signal aborts. */
export function rest(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, signal).catch(() => undefined);
}

export function checkOf(
  { httpGet, grpc }: ProbeObject,
  { ports = [] }: ContainerObject,
  address: string,
): () => Promise<boolean> {
  if (grpc !== undefined) return () => isServing(`${address}:${grpc.port}`, grpc.service ?? '');
  if (httpGet === undefined) throw new Error('the stand-in kubelet probes by HTTP and gRPC only');
  const { port } = httpGet;
  const number =
    typeof port === 'number' ? port : ports.find(({ name }) => name === port)?.containerPort;
  if (number === undefined) throw new Error(`a probe names the port ${port}, which is not there`);
  return async () => {
    const url = `http://${address}:${number}${httpGet.path ?? '/'}`;
    const answer = await http({ url, withinMs: ANSWER_MS }).catch(() => undefined);
    return answer !== undefined && answer.status >= 200 && answer.status < 400;
  };
}

/** gRPC's own health service. */
export async function isServing(target: string, service: string): Promise<boolean> {
  const channel = createGrpcChannel({ runtime, target });
  try {
    const health = createClient(Health, channel);
    const ask = (signal: AbortSignal) => health.check({ service }, { signal });
    const { status } = await withDeadline('health', ANSWER_MS, ask);
    return Number(status) === SERVING;
  } catch {
    return false;
  } finally {
    channel.close();
  }
}
