// Concurrent calls, bounded, with results in the order of the requests.

import type { Ack, Answer } from './endpoint.ts';
import { ensure, notFenced, shown } from './expect.ts';

/** Concurrent identical calls unless a behaviour says otherwise. */
export const BURST = 16;

/** All at once: the race is the point. `count` is what bounds it. */
export function fanout<T>(count: number, call: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index)));
}

/** All of them, at most `limit` at a time. */
export async function mapLimited<A, B>(
  items: readonly A[],
  limit: number,
  work: (item: A) => Promise<B>,
): Promise<readonly B[]> {
  const results: B[] = [];
  for (let at = 0; at < items.length; at += limit) {
    results.push(...(await Promise.all(items.slice(at, at + limit).map(work))));
  }
  return results;
}

/** The one operation that a burst of identical calls collapsed into. */
export function singleOpId(answers: readonly Answer<Ack>[], what: string): string {
  const ids = new Set<string>();
  for (const answer of answers) {
    notFenced(answer, what);
    if (answer.ok) ids.add(answer.value.operationId);
  }
  const first = answers[0];
  ensure(
    ids.size > 0,
    () =>
      `${what}: none of ${answers.length} calls succeeded, the first got ${first ? shown(first) : 'no answer'}`,
  );
  ensure(
    ids.size === 1 && !ids.has(''),
    () => `${what}: expected one operation_id, got ${ids.size}: ${JSON.stringify([...ids])}`,
  );
  return [...ids].join('');
}
