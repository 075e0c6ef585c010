// One sample per RPC, whatever its end.

import { type Counter, DEF, type MetricRegistry } from '@bigfleet/telemetry';
import type { StatusCode } from '@bigfleet/wire';

export interface RpcMetrics {
  finished(method: string, code: StatusCode, seconds: number): void;
}

export function createPanicCounter(registry: MetricRegistry, prefix: string): Counter {
  return registry.counter({
    name: `${prefix}_panics_total`,
    help: 'Handlers that failed with a bug; the caller saw INTERNAL.',
  });
}

/** `methods` are the short names of everything that is served. */
export function createRpcMetrics(
  registry: MetricRegistry,
  prefix: string,
  methods: readonly string[],
): RpcMetrics {
  const requests = registry.counter({
    name: `${prefix}_grpc_requests_total`,
    help: 'RPCs answered.',
    labels: { method: methods, code: STATUS_LABELS },
    initial: ({ code }) => code === 'OK',
  });
  const durations = registry.histogram({
    name: `${prefix}_grpc_request_duration_seconds`,
    help: 'Duration of RPCs.',
    labels: { method: methods },
    bounds: DEF,
  });
  return {
    finished: (method, code, seconds) => {
      requests.labels({ method, code: statusLabel(code) }).inc();
      durations.labels({ method }).observe(seconds);
    },
  };
}

// The `code` label and log field: gRPC code names as every other gRPC server spells them, because
// alerts on `code="FailedPrecondition"` exist already.
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

const STATUS_LABELS: readonly string[] = Object.values(NAMES);

export function statusLabel(code: StatusCode): string {
  return NAMES[code];
}
