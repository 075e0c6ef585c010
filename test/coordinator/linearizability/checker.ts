// Is there one order of all operations, each at a point between its call and its return, in which
// every answer is the one that the model gives? (Wing & Gong's search with Lowe's memory of visited
// configurations.) A configuration is which operations are placed and what the register holds; each
// is visited once. Operations that nobody heard may be placed anywhere after their call, or never.

import type { Entry, History } from './history.ts';
import { type Register, step } from './model.ts';
import assert from 'node:assert/strict';

const maxConfigurations = 2_000_000;

export type Verdict =
  | { readonly kind: 'linearizable' }
  /** The longest order found, for whoever reads the failure. */
  | {
      readonly kind: 'violation';
      readonly placed: readonly Entry[];
      readonly all: readonly Entry[];
    };

interface Node {
  readonly placed: bigint;
  readonly register: Register;
  readonly order: readonly Entry[];
}

export function check(history: readonly Entry[]): Verdict {
  const entries = [...history].sort((a, b) => a.calledAt - b.calledAt);
  const mustPlace = maskOf(entries, (entry) => entry.answer !== undefined);
  const visited = new Set<string>();
  const stack: Node[] = [{ placed: 0n, register: null, order: [] }];
  let best: readonly Entry[] = [];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if ((node.placed & mustPlace) === mustPlace) return { kind: 'linearizable' };
    if (node.order.length > best.length) best = node.order;
    for (const next of successors(entries, node)) {
      const key = `${next.placed.toString(36)} ${next.register}`;
      if (visited.has(key)) continue;
      visited.add(key);
      if (visited.size > maxConfigurations) throw new Error('the history is too hard to check');
      stack.push(next);
    }
  }
  return { kind: 'violation', placed: best, all: entries };
}

/** What may come next: anything called before the first open operation returned. */
function successors(entries: readonly Entry[], node: Node): Node[] {
  const open = entries
    .map((entry, at) => ({ entry, bit: 1n << BigInt(at) }))
    .filter(({ bit }) => (node.placed & bit) === 0n);
  const firstReturn = Math.min(...open.map(({ entry }) => entry.returnedAt));
  return open.flatMap(({ entry, bit }) => {
    if (entry.calledAt > firstReturn) return [];
    const register = step(node.register, entry.operation, entry.answer);
    if (register === undefined) return [];
    return [{ placed: node.placed | bit, register, order: [...node.order, entry] }];
  });
}

function maskOf(entries: readonly Entry[], test: (entry: Entry) => boolean): bigint {
  return entries.reduce((mask, entry, at) => (test(entry) ? mask | (1n << BigInt(at)) : mask), 0n);
}

/** One line per operation, for failure messages. */
function describe(entries: readonly Entry[]): string {
  return entries
    .map(({ client, operation, answer, calledAt, returnedAt }) =>
      [
        `${calledAt}–${returnedAt}`,
        client,
        JSON.stringify(operation),
        answer === undefined ? 'unheard' : JSON.stringify(answer),
      ].join(' '),
    )
    .join('\n');
}

export interface Judged {
  readonly heardCount: number;
  readonly unheardCount: number;
}

/**
 * The verdict over a whole history: every register on its own, and enough heard for it to mean
 * something. A history in which nothing was answered is linearizable and proves nothing.
 */
export function judge(history: History, label: string): Judged {
  let heardCount = 0;
  let unheardCount = 0;
  for (const [register, entries] of history.entries) {
    const verdict = check(entries);
    const text = verdict.kind === 'violation' ? describe(verdict.all) : '';
    assert.equal(verdict.kind, 'linearizable', `${label}, register ${register}:\n${text}`);
    const heard = entries.filter(({ answer }) => answer !== undefined).length;
    heardCount += heard;
    unheardCount += entries.length - heard;
  }
  return { heardCount, unheardCount };
}
