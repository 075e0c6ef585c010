// Acknowledging many requests as the operator does: one status patch each, sixteen at a time.

import { performance } from 'node:perf_hooks';
import { requestName } from './objects.ts';

/** `--ack-concurrency`. */
export const ACKNOWLEDGE_CONCURRENCY = 16;

let round = 0;

/** Another time at every call: a patch that changes nothing would be no write. */
export function acknowledged(): { readonly status: Readonly<Record<string, string>> } {
  const acknowledgedAt = new Date(Date.UTC(2026, 0, 1) + round++ * 1000).toISOString();
  return { status: { phase: 'Acknowledged', acknowledgedAt: acknowledgedAt.replace('.000', '') } };
}

/** Milliseconds of each. */
export async function inParallel(
  count: number,
  width: number,
  work: (name: string) => Promise<void>,
): Promise<readonly number[]> {
  const latenciesMs: number[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const name = requestName(next++);
      const startMs = performance.now();
      await work(name);
      latenciesMs.push(performance.now() - startMs);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return latenciesMs;
}
