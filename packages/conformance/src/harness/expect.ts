// Judging one answer. A finding says what was asked, what was expected and what came back.
// FAILED_PRECONDITION is reserved for fencing: `rejected` is how every other refusal is judged.

import type { FailureCode } from '@bigfleet/wire';
import { CheckFailed } from './check.ts';
import type { Ack, Answer } from './endpoint.ts';

export function ensure(condition: boolean, finding: string | (() => string)): asserts condition {
  if (!condition) throw new CheckFailed(typeof finding === 'string' ? finding : finding());
}

/** OK; the value. */
export function accepted<T>(answer: Answer<T>, what: string): T {
  if (answer.ok) return answer.value;
  throw new CheckFailed(`${what}: expected OK, got ${shown(answer)}`);
}

/** OK with a non-empty operation id. */
export function acknowledged(answer: Answer<Ack>, what: string): Ack {
  const ack = accepted(answer, what);
  ensure(ack.operationId !== '', `${what}: expected an operation_id, got an empty one`);
  return ack;
}

/** FAILED_PRECONDITION: the fence, and nothing but the fence. */
export function fenced(answer: Answer<unknown>, what: string): void {
  if (answer.ok || answer.code !== 'FAILED_PRECONDITION') {
    throw new CheckFailed(`${what}: expected FAILED_PRECONDITION (fenced), got ${shown(answer)}`);
  }
}

/** An error, and not the fence's. */
export function rejected(answer: Answer<unknown>, what: string): void {
  if (answer.ok) throw new CheckFailed(`${what}: expected a rejection, got OK`);
  notFenced(answer, what);
}

/** OK or any error but the fence's. */
export function notFenced(answer: Answer<unknown>, what: string): void {
  if (!answer.ok && answer.code === 'FAILED_PRECONDITION') {
    throw new CheckFailed(
      `${what}: got ${shown(answer)}, but that code is reserved for fencing and no stale token was sent`,
    );
  }
}

/** One of these codes. */
export function refusedWith(
  answer: Answer<unknown>,
  codes: readonly FailureCode[],
  what: string,
): void {
  if (answer.ok || !codes.includes(answer.code)) {
    throw new CheckFailed(`${what}: expected ${codes.join(' or ')}, got ${shown(answer)}`);
  }
}

export function isCode(answer: Answer<unknown>, code: FailureCode): boolean {
  return !answer.ok && answer.code === code;
}

export function shown(answer: Answer<unknown>): string {
  return answer.ok ? 'OK' : `${answer.code} (${JSON.stringify(answer.message.slice(0, 200))})`;
}
