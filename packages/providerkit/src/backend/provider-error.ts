// Backend errors by class (providers A9). The class says whose fault it is and drives metrics and
// readiness; the text becomes `last_error`, `<op>: [<class>/<code>] <message>`, read by people on
// call. Classify from typed fields of the vendor's answer, never from substrings of a message.
// The bootstrap blob and credentials never belong in a message.

import { BigFleetError, describeThrown } from '@bigfleet/base';

export type ErrorClass =
  | 'throttled'
  | 'transient'
  | 'conflict'
  | 'not_found'
  | 'already_exists'
  | 'capacity'
  | 'quota'
  | 'auth'
  | 'config'
  | 'guest'
  | 'timeout';

export interface ProviderErrorOptions {
  readonly class: ErrorClass;
  /** The call of the substrate that failed, e.g. RunInstances. */
  readonly op: string;
  readonly vendorCode: string;
  readonly message: string;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly class: ErrorClass;
  readonly op: string;
  readonly vendorCode: string;
  readonly retryAfterMs: number | undefined;

  constructor(options: ProviderErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.class = options.class;
    this.op = options.op;
    this.vendorCode = options.vendorCode;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** `last_error` is stored, listed and logged on every read: a vendor's HTML page has no place. */
const MAX_ERROR_TEXT_LENGTH = 4_096;

/** The text of anything a backend rejected with; `op` where the error names none itself. */
export function failureText(op: string, thrown: unknown): string {
  const message = describeThrown(thrown);
  if (thrown instanceof ProviderError) {
    return bounded(`${thrown.op}: [${thrown.class}/${thrown.vendorCode}] ${message}`);
  }
  return bounded(`${op}: [unclassified/${codeOf(thrown)}] ${message}`);
}

function codeOf(thrown: unknown): string {
  if (thrown instanceof BigFleetError) return thrown.code;
  return thrown instanceof Error ? thrown.name : typeof thrown;
}

export function bounded(text: string): string {
  const whole = text.toWellFormed();
  if (whole.length <= MAX_ERROR_TEXT_LENGTH) return whole;
  return `${whole.slice(0, MAX_ERROR_TEXT_LENGTH - 1).toWellFormed()}…`;
}
