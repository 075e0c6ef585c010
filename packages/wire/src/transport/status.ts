// What ends a call: gRPC status codes by name, the one error type that crosses a transport, and the
// metadata that travels with both. The adapters produce and consume exactly these, so that a
// component behaves the same over the network and inside the simulator.

import { BigFleetError } from '@bigfleet/base';

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

/**
 * The status that the caller gets for what a handler threw. The environment's errors carry their
 * status in the catalogue, and their stable code leads the text, so that a person can search for it.
 * Anything else is a bug of ours: undefined.
 */
export function toRpcError(thrown: unknown): RpcError | undefined {
  if (thrown instanceof RpcError) return thrown;
  if (!(thrown instanceof BigFleetError)) return undefined;
  const { grpcStatus } = thrown;
  if (grpcStatus === 'OK' || thrown.code === 'internal') return undefined;
  return new RpcError(grpcStatus, `${thrown.code}: ${thrown.message}`, { cause: thrown });
}

/** A handler that asks sees why: the deadline as base's own error, anything else as cancelled. */
export function abortReason(ending: RpcError): BigFleetError {
  const code = ending.code === 'DEADLINE_EXCEEDED' ? 'deadline_exceeded' : 'cancelled';
  return new BigFleetError(code, ending.message, { cause: ending });
}

/** The call cannot go on without its requests; whoever reads the responses learns why they ended. */
export function requestFailure(cause: unknown): RpcError {
  if (cause instanceof RpcError) return cause;
  return new RpcError('CANCELLED', 'the request stream failed', { cause });
}

export function tooLarge(message: Uint8Array, limitBytes: number): RpcError {
  const text = `message_too_large: ${message.length} bytes, the limit is ${limitBytes}`;
  return new RpcError('RESOURCE_EXHAUSTED', text);
}

const legalKey = /^[0-9a-z_.-]+$/;
const legalValue = /^[ -~]*$/;
const transportKeys: ReadonlySet<string> = new Set([
  'user-agent',
  'content-type',
  'te',
  'date',
  'accept-encoding',
]);

/**
 * Both transports carry text entries of the application: nothing of the transport's own headers,
 * nothing that HTTP/2 could not carry. The sender refuses the rest, so that a component cannot work
 * in simulation and fail in production.
 */
export function checkMetadataEntry(key: string, value: string): void {
  if (!legalKey.test(key) || isTransportKey(key) || !legalValue.test(value)) {
    throw new RpcError('INVALID_ARGUMENT', `metadata ${JSON.stringify(key)} cannot be sent`);
  }
}

export function isTransportKey(key: string): boolean {
  return key.startsWith('grpc-') || key.endsWith('-bin') || transportKeys.has(key);
}

/** A checked copy: the peer must not see what the caller changes later. */
export function copyMetadata(metadata: Metadata | undefined): Metadata {
  if (metadata === undefined || metadata.size === 0) return noMetadata;
  for (const [key, value] of metadata) checkMetadataEntry(key, value);
  return new Map(metadata);
}
