// A CapacityRequest as the roll-up reads it: the fields of the CRD that matter here, in the CRD's
// own spelling (kubernetes §1.1). Values are what the API server stored, so nothing is trusted
// beyond its type: quantities and operators may be garbage, and the reader decides (kubernetes §3.4).

import type { RequestRefusal } from '@bigfleet/base';
import type { CapacityRequestSpec } from '@bigfleet/kube';

/** Which object it is: what a status patch or an Event needs. */
export interface RequestRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface CapacityRequest extends RequestRef {
  /** As it is stored, possibly under another version of the CRD: `read-spec.ts` checks its shape. */
  readonly spec: CapacityRequestSpec;
  /** Its pod runs on a node that BigFleet does not own (label `bigfleet.lucy.sh/foreign-node`). */
  readonly isForeign: boolean;
  /** Beyond Pending, which an empty phase means: Acknowledged, or a phase that this build does not know. */
  readonly isAcknowledged: boolean;
}

/**
 * Why one CapacityRequest is not in the roll-up. A refusal concerns that request alone: the rest of
 * the roll-up goes out (kubernetes §3.4). The codes are the closed set of engine §15.5, so a field
 * that has no code of its own takes the nearest one and says in `problem` what it was.
 */
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
  const short = typeof value === 'string' ? value.slice(0, MAX_SHOWN_LENGTH + 1) : value;
  const text = JSON.stringify(short) ?? String(short);
  if (text.length <= MAX_SHOWN_LENGTH) return text;
  // Copied: a slice would keep the whole text in memory for as long as the refusal lives.
  return `${Buffer.from(text.slice(0, MAX_SHOWN_LENGTH)).toString()}…`;
}
