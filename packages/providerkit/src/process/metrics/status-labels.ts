// The `code` label and log field: gRPC code names as every other gRPC server spells them, because
// alerts on `code="FailedPrecondition"` exist already.

import type { StatusCode } from '@bigfleet/wire';

const NAMES: Readonly<Record<StatusCode, string>> = {
  OK: 'OK',
  CANCELLED: 'Canceled',
  UNKNOWN: 'Unknown',
  INVALID_ARGUMENT: 'InvalidArgument',
  DEADLINE_EXCEEDED: 'DeadlineExceeded',
  NOT_FOUND: 'NotFound',
  ALREADY_EXISTS: 'AlreadyExists',
  PERMISSION_DENIED: 'PermissionDenied',
  RESOURCE_EXHAUSTED: 'ResourceExhausted',
  FAILED_PRECONDITION: 'FailedPrecondition',
  ABORTED: 'Aborted',
  OUT_OF_RANGE: 'OutOfRange',
  UNIMPLEMENTED: 'Unimplemented',
  INTERNAL: 'Internal',
  UNAVAILABLE: 'Unavailable',
  DATA_LOSS: 'DataLoss',
  UNAUTHENTICATED: 'Unauthenticated',
};

export const STATUS_LABELS: readonly string[] = Object.values(NAMES);

export function statusLabel(code: StatusCode): string {
  return NAMES[code];
}
