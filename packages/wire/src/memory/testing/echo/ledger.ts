// What the echo system has seen, and every law it saw broken. Counters for people, violations
// for tests; both bounded.

import type { StatusCode } from '../../../transport/status.ts';

export type CallKind = 'say' | 'chat' | 'count' | 'sum';

const MAX_VIOLATIONS = 20;
const MAX_EXECUTIONS = 100_000;

export class EchoLedger {
  startedCount = 0;
  finishedCount = 0;
  messageCount = 0;
  readonly outcomes: Map<StatusCode, number> = new Map();
  readonly kinds: Map<CallKind, number> = new Map();
  readonly violations: string[] = [];
  /** How often a handler ran for a call that must run at most so often. */
  readonly #executions = new Map<number, number>();

  start(kind: CallKind): number {
    this.startedCount += 1;
    this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + 1);
    return this.startedCount;
  }

  finish(code: StatusCode): void {
    this.finishedCount += 1;
    this.outcomes.set(code, (this.outcomes.get(code) ?? 0) + 1);
  }

  executed(call: number, most: number): void {
    const count = this.executions(call) + 1;
    this.check(count <= most, () => `call ${call} was executed ${count} times`);
    this.#executions.set(call, count);
    if (this.#executions.size <= MAX_EXECUTIONS) return;
    for (const oldest of this.#executions.keys()) {
      this.#executions.delete(oldest);
      break;
    }
  }

  executions(call: number): number {
    return this.#executions.get(call) ?? 0;
  }

  check(holds: boolean, text: () => string): void {
    if (!holds && this.violations.length < MAX_VIOLATIONS) this.violations.push(text());
  }
}
