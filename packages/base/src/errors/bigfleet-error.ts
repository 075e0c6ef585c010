// What the environment throws: a refused connection, a bad file, a passed deadline. Code and kind
// come from the catalogue, so a handler can decide without reading the message. Bugs are
// AssertionError and expected outcomes are Result; neither is wrapped in this class on purpose.

import {
  type ErrorCode,
  type ErrorKind,
  errorCatalogue,
  type GrpcStatusName,
} from './catalogue.ts';

/**
 * Context of an error or a failed assertion. Flat primitives only: they become log fields and metadata
 * as they are, and no object can smuggle a secret or a cycle into a log line.
 */
export type Fields = Readonly<Record<string, FieldValue>>;

export type FieldValue = string | number | bigint | boolean | undefined;

export interface BigFleetErrorOptions {
  readonly fields?: Fields;
  readonly cause?: unknown;
}

export class BigFleetError extends Error {
  override readonly name = 'BigFleetError';
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly fields: Fields;

  /** `message` says what happened here; the catalogue already says what the code means. */
  constructor(code: ErrorCode, message: string, options: BigFleetErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.kind = errorCatalogue[code].kind;
    this.fields = options.fields ?? {};
  }

  get grpcStatus(): GrpcStatusName {
    return errorCatalogue[this.code].grpc;
  }
}

/**
 * For the one place at each boundary where `unknown` becomes an error of ours. An existing
 * BigFleetError keeps its identity; everything else is wrapped under `code` with its cause.
 */
export function toBigFleetError(thrown: unknown, code: ErrorCode = 'internal'): BigFleetError {
  if (thrown instanceof BigFleetError) return thrown;
  return new BigFleetError(code, describeThrown(thrown), { cause: thrown });
}

/** Text of anything that was thrown; never throws itself, whatever a hostile value does. */
export function describeThrown(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return 'a value that cannot be described was thrown';
  }
}
