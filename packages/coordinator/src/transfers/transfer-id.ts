// Names of transfers, which order as they were begun: the term of the leadership, then its count.
// A restore raises the term by far more than the elections it can have lost, so of two transfers of
// one machine the greater id is the later one, also when the ledger has forgotten one of them.

import { compareText } from '@bigfleet/base';

const TERM_DIGITS = 16;
const COUNT_DIGITS = 8;

export function transferId(term: bigint, count: number): string {
  return `t-${digits(term, TERM_DIGITS)}-${digits(count, COUNT_DIGITS)}`;
}

/** Begun by the leadership of that term: no restore can have gone back behind its record. */
export function isOfTerm(id: string, term: bigint): boolean {
  return id.startsWith(`t-${digits(term, TERM_DIGITS)}-`);
}

/** Drains move no ownership; their acks must not be mistaken for those of a transfer. */
export function drainId(term: bigint, count: number): string {
  return `d-${digits(term, TERM_DIGITS)}-${digits(count, COUNT_DIGITS)}`;
}

export function isDrainId(id: string): boolean {
  return id.startsWith('d-');
}

export function isLater(id: string, other: string): boolean {
  return compareText(id, other) > 0;
}

function digits(value: bigint | number, length: number): string {
  return value.toString(16).padStart(length, '0');
}
