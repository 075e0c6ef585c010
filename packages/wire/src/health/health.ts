// The standard gRPC health service as plain handlers, so that it also answers on the
// in-memory transport: the leader-liveness stream of the coordinators is its Watch.
// A watcher that reads slowly skips intermediate states and always ends on the newest.

import type { Handlers } from '../rpc/handlers.ts';
import {
  type Health,
  HealthCheckResponse_ServingStatus as Serving,
} from '../gen/grpc/health/v1/health_pb.ts';
import { RpcError } from '../transport/status.ts';
import type { CallContext } from '../transport/transport.ts';

export type HealthStatus = 'serving' | 'not-serving';

/** Streams open at once; each is one small closure. More than this is a misbehaving client. */
const maxWatchers = 1_000;

export class HealthRegistry {
  readonly #statuses = new Map<string, HealthStatus>();
  readonly #wakeups = new Set<() => void>();
  readonly handlers: Handlers<typeof Health>;

  /** The empty service name is the process itself: serving from the start. */
  constructor() {
    this.#statuses.set('', 'serving');
    this.handlers = {
      check: async ({ service }) => {
        const status = this.#statuses.get(service);
        if (status === undefined) throw new RpcError('NOT_FOUND', `unknown service "${service}"`);
        return { status: wireStatus(status) };
      },
      watch: ({ service }, call) => this.#watch(service, call),
    };
  }

  set(service: string, status: HealthStatus): void {
    if (this.#statuses.get(service) === status) return;
    this.#statuses.set(service, status);
    for (const wake of this.#wakeups) wake();
  }

  /** Before a server drains: every service at once. */
  setAll(status: HealthStatus): void {
    for (const service of this.#statuses.keys()) this.set(service, status);
  }

  async *#watch(service: string, call: CallContext): AsyncIterable<{ status: Serving }> {
    if (this.#wakeups.size >= maxWatchers) {
      throw new RpcError('RESOURCE_EXHAUSTED', `more than ${maxWatchers} health watches`);
    }
    let wake = (): void => {};
    const wakeup = (): void => wake();
    this.#wakeups.add(wakeup);
    call.signal.addEventListener('abort', wakeup);
    try {
      let sent: Serving | undefined;
      while (!call.signal.aborted) {
        const changed = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const status = wireStatus(this.#statuses.get(service));
        if (status !== sent) {
          sent = status;
          yield { status };
        } else {
          await changed;
        }
      }
    } finally {
      this.#wakeups.delete(wakeup);
      call.signal.removeEventListener('abort', wakeup);
    }
  }
}

function wireStatus(status: HealthStatus | undefined): Serving {
  if (status === undefined) return Serving.SERVICE_UNKNOWN;
  return status === 'serving' ? Serving.SERVING : Serving.NOT_SERVING;
}
