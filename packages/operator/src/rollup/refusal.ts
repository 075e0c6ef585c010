// Why one CapacityRequest is not in the roll-up. A refusal concerns that request alone: the rest of
// the roll-up goes out (kubernetes §3.4). The codes are the closed set of engine §15.5, so a field
// that has no code of its own takes the nearest one and says in `problem` what it was.

import type { RequestRefusal } from '@bigfleet/base';
import type { RequestRef } from './capacity-request.ts';

export interface Refusal {
  readonly reason: RequestRefusal;
  /** For the person who wrote the request: which field, and what is wrong with it. */
  readonly problem: string;
}

/** A request with a bad profile. Requests of foreign pods are left out too, but are no mistake. */
export interface RefusedRequest {
  readonly request: RequestRef;
  readonly refusal: Refusal;
}

/** Input may be long or hostile; an Event and a log line need neither. */
const MAX_SHOWN_LENGTH = 100;

export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)}…`;
}
