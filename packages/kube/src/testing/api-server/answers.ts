// What the server says to a request: an object, a refusal as a Status, or an open watch.

import { asNumber, at, type Obj } from './json.ts';
import type { Refusal } from './status.ts';
import type { Watch } from './watch.ts';

export const JSON_TYPE = 'application/json';

export type ServerAnswer =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly contentType: string;
      readonly text: string;
      readonly retryAfterSeconds?: number | undefined;
    }
  | { readonly kind: 'watch'; readonly watch: Watch }
  /** The connection is to be cut, or to stay without an answer. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'hang' };

export function answered(status: number, text: string): ServerAnswer {
  return { kind: 'answer', status, contentType: JSON_TYPE, text };
}

export function json(status: number, object: Obj): ServerAnswer {
  return answered(status, JSON.stringify(object));
}

export function refused(refusal: Refusal): ServerAnswer {
  const seconds = asNumber(at(refusal.status, 'details', 'retryAfterSeconds'));
  return {
    kind: 'answer',
    status: refusal.code,
    contentType: JSON_TYPE,
    text: JSON.stringify(refusal.status),
    retryAfterSeconds: seconds !== undefined && seconds > 0 ? seconds : undefined,
  };
}

/** The real server's flow control answers 429 before anything knows about Statuses: in plain text. */
export function faultAnswer(refusal: Refusal): ServerAnswer {
  const answer = refused(refusal);
  if (refusal.code !== 429 || answer.kind !== 'answer') return answer;
  return { ...answer, contentType: 'text/plain; charset=utf-8', text: `${refusal.message}\n` };
}
