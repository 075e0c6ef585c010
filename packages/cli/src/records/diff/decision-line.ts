// What `bigfleet replay --decisions` prints and `bigfleet diff` reads, one JSON line each. It is a
// contract between builds of different age: keys are added, never changed, and unknown kinds of
// lines are refused with the line, because a diff that skips what it does not know lies.

import { describeThrown } from '@bigfleet/base';
import type { DecidedAction } from '@bigfleet/engine';

export const DECISIONS_VERSION = 1;

/** An action and the price of its machine; null is a price beyond any number. */
export type PricedAction = DecidedAction & { readonly pricePerHour: number | null };

export interface CycleLine {
  readonly kind: 'cycle';
  readonly hash: string;
  readonly actions: readonly PricedAction[];
  /** One per entry of the shortfall ledger. */
  readonly shortfallAges: readonly number[];
}

export type DecisionLine =
  | { readonly kind: 'decisions'; readonly version: number }
  /** What follows is of this trace. */
  | { readonly kind: 'trace'; readonly name: string }
  /** The state at which the trace begins is loaded. */
  | { readonly kind: 'snapshot'; readonly machineCount: number; readonly rowCount: number }
  | CycleLine
  /** This build could not take an input; nothing of the trace follows. */
  | { readonly kind: 'failed'; readonly problem: string }
  /** Of everything: without it the output was cut off. */
  | { readonly kind: 'end' };

const KINDS: readonly string[] = ['decisions', 'trace', 'snapshot', 'cycle', 'failed', 'end'];

export function encodeDecisionLine(line: DecisionLine): string {
  return `${JSON.stringify(line)}\n`;
}

/** Throws an Error that says what is wrong. */
export function parseDecisionLine(text: string): DecisionLine {
  const line = parse(text);
  if (!isDecisionLine(line)) throw new Error(`not a line of decisions: ${text.slice(0, 80)}`);
  return line;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`not JSON: ${describeThrown(error)}`, { cause: error });
  }
}

/** The fields that are counted or looked up; the rest of an action is only compared. */
function isDecisionLine(line: unknown): line is DecisionLine {
  if (typeof line !== 'object' || line === null || !('kind' in line)) return false;
  if (typeof line.kind !== 'string' || !KINDS.includes(line.kind)) return false;
  if (line.kind !== 'cycle') return true;
  const { hash, actions, shortfallAges } = line as Partial<CycleLine>;
  return typeof hash === 'string' && isActions(actions) && Array.isArray(shortfallAges);
}

function isActions(actions: unknown): boolean {
  return (
    Array.isArray(actions) &&
    actions.every((action: unknown) => {
      if (typeof action !== 'object' || action === null) return false;
      const { kind, machineId } = action as Partial<PricedAction>;
      return typeof machineId === 'string' && [1, 2, 3, 4, 5].includes(kind ?? 0);
    })
  );
}
