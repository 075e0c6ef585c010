// gRPC status codes by name, and the one error type that crosses a transport.
// Both adapters produce and consume exactly these, so that a component behaves the
// same over the network and inside the simulator.

const numbers = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

export type StatusCode = keyof typeof numbers;
export type FailureCode = Exclude<StatusCode, 'OK'>;

const names: readonly StatusCode[] = Object.keys(numbers) as StatusCode[];

export function statusNumber(code: StatusCode): number {
  return numbers[code];
}

/** The name of a wire number; numbers outside the table are UNKNOWN, as gRPC says. */
export function statusName(number: number): StatusCode {
  return names[number] ?? 'UNKNOWN';
}

/** ASCII metadata with lower-case keys. */
export type Metadata = ReadonlyMap<string, string>;

export const noMetadata: Metadata = new Map();

/** How a call failed. Thrown by clients; thrown by handlers to answer with this status. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: FailureCode;
  /** Trailing metadata, both directions. */
  readonly metadata: Metadata;

  constructor(code: FailureCode, message: string, options?: RpcErrorOptions) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.metadata = options?.metadata ?? noMetadata;
  }
}

export interface RpcErrorOptions {
  readonly metadata?: Metadata;
  readonly cause?: unknown;
}
