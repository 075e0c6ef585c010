// What a failed provider call lets the shard conclude (shard §9.4). The class decides, never the
// message: a second of downtime read as a rejection would burn machines, and a fenced call read as
// transient would be retried by a zombie. The original status and text stay attached.

import { BigFleetError, type ErrorCode } from '@bigfleet/base';
import { type FailureCode, RpcError } from '@bigfleet/wire';

export type ProviderFailure =
  /** This process is the zombie: never retried, nothing local changes. */
  | 'fenced'
  | 'not_found'
  /** Delete on capacity that cannot be deleted. */
  | 'not_supported'
  /** Definite: the provider refused, and a repetition would be refused too. */
  | 'rejected'
  /** Maybe the start state was stale: ask Get before concluding anything. */
  | 'state_refusal'
  /** It may have taken effect: ask Get, else wait for the next List. */
  | 'unknown_result';

/** INTERNAL is what providers answer for an illegal start state. */
const byStatus: Readonly<Record<FailureCode, ProviderFailure>> = {
  FAILED_PRECONDITION: 'fenced',
  NOT_FOUND: 'not_found',
  UNIMPLEMENTED: 'not_supported',
  INTERNAL: 'state_refusal',
  INVALID_ARGUMENT: 'rejected',
  ALREADY_EXISTS: 'rejected',
  PERMISSION_DENIED: 'rejected',
  UNAUTHENTICATED: 'rejected',
  OUT_OF_RANGE: 'rejected',
  UNAVAILABLE: 'unknown_result',
  DEADLINE_EXCEEDED: 'unknown_result',
  CANCELLED: 'unknown_result',
  RESOURCE_EXHAUSTED: 'unknown_result',
  ABORTED: 'unknown_result',
  UNKNOWN: 'unknown_result',
  DATA_LOSS: 'unknown_result',
};

const codes: Readonly<Record<ProviderFailure, ErrorCode>> = {
  fenced: 'provider_fenced',
  not_found: 'machine_unknown',
  not_supported: 'provider_not_supported',
  rejected: 'provider_rejected',
  state_refusal: 'provider_state_refused',
  unknown_result: 'provider_result_unknown',
};

export interface ProviderErrorOptions {
  readonly failure: ProviderFailure;
  readonly status: FailureCode;
  /** The provider's own words. */
  readonly message: string;
  /** When it says more than the class does. */
  readonly code?: ErrorCode;
  readonly cause?: unknown;
}

export class ProviderError extends BigFleetError {
  readonly failure: ProviderFailure;
  readonly status: FailureCode;

  constructor({ failure, status, message, code, cause }: ProviderErrorOptions) {
    super(code ?? codes[failure], message, { fields: { failure, status }, cause });
    this.failure = failure;
    this.status = status;
  }
}

/**
 * The provider is asked too much of, and says so. Still a result that is unknown: a proxy that gave up
 * waiting may answer the same.
 */
export function isThrottled({ status }: ProviderError): boolean {
  return status === 'RESOURCE_EXHAUSTED';
}

export function failureOf(status: FailureCode): ProviderFailure {
  return byStatus[status];
}

/** The one place where a transport's error becomes ours. Bugs go through as they are. */
export function toProviderError(thrown: unknown): unknown {
  if (!(thrown instanceof RpcError)) return thrown;
  const { code, message } = thrown;
  return new ProviderError({ failure: failureOf(code), status: code, message, cause: thrown });
}

/** An answer that cannot be read. The call itself succeeded, so its effect is real but unknown. */
export function malformedAnswer(what: string, cause?: unknown): ProviderError {
  return new ProviderError({
    failure: 'unknown_result',
    status: 'INTERNAL',
    message: what,
    code: 'provider_answer_malformed',
    cause,
  });
}
