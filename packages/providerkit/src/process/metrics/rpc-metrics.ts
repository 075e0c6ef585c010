// One sample per RPC, whatever its end.

import { type Counter, DEF, type MetricRegistry } from '@bigfleet/telemetry';
import type { StatusCode } from '@bigfleet/wire';
import { STATUS_LABELS, statusLabel } from './status-labels.ts';

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
