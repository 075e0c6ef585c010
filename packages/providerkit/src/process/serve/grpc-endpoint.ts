// Everything on `--addr`: the contract, the administrative service, health and reflection, behind
// the identity gate. Which identity checks apply is what the process was configured with, never
// what a connection looks like: without a CA nobody has an identity, so nothing can be checked.

import type { Runtime } from '@bigfleet/base';
import type { Logger, MetricRegistry } from '@bigfleet/telemetry';
import {
  CapacityProvider,
  createGate,
  createGrpcServer,
  type GrpcServer,
  Health,
  type HealthRegistry,
  ProviderAdmin,
  reflectionHandlers,
  Router,
  ServerReflection,
  type ServerErrorReport,
} from '@bigfleet/wire';
import type { Provider } from '../../provider.ts';
import { createPanicCounter, createRpcMetrics } from '../metrics/rpc-metrics.ts';
import { observedRouter } from './observed-router.ts';
import type { TransportSecurity } from './transport-security.ts';

/** Pings find a shard that died without a word; shards close what they don't use. */
const KEEPALIVE = { timeMs: 7_200_000, timeoutMs: 20_000 };
/** So that no connection outlives its certificate for long (security §1.3). */
const MAX_CONNECTION_AGE_MS = 24 * 3_600_000;
/** After transitions have ended, only reads are left. */
const STOP_GRACE_MS = 2_000;

export interface GrpcEndpointOptions {
  readonly runtime: Runtime;
  readonly addr: string;
  readonly security: TransportSecurity;
  readonly provider: Provider;
  readonly health: HealthRegistry;
  readonly reflection: boolean;
  readonly registry: MetricRegistry;
  readonly metricPrefix: string;
  readonly logger: Logger;
}

export function createGrpcEndpoint(options: GrpcEndpointOptions): GrpcServer {
  const { runtime, addr, security, logger } = options;
  const router = createRouter(options);
  const methods = router.services.flatMap((service) => service.methods.map(({ name }) => name));
  const metrics = createRpcMetrics(options.registry, options.metricPrefix, methods);
  const { material } = security;
  return createGrpcServer({
    runtime,
    router: observedRouter({ router, clock: runtime.clock, logger, metrics }),
    listen: [addr],
    ...(material === undefined ? {} : { tls: material }),
    keepalive: KEEPALIVE,
    maxConnectionAgeMs: MAX_CONNECTION_AGE_MS,
    stopGraceMs: STOP_GRACE_MS,
    onError: (report) => logConnectionError(logger, report),
  });
}

function createRouter(options: GrpcEndpointOptions): Router {
  const { provider, security, health, logger } = options;
  const panics = createPanicCounter(options.registry, options.metricPrefix);
  const router = new Router({
    gate: createGate({
      transport: security.mode === 'mTLS' ? 'mtls' : 'plaintext',
      onDenied: ({ path, presented, assertedId, peerAddress }) =>
        logger.error('identity denied', {
          rpc: path,
          presented_identity: presented,
          asserted_id: assertedId,
          peer: peerAddress,
        }),
    }),
    onPanic: (path, error) => {
      panics.inc();
      logger.error('handler failed with a bug', { rpc: path, err: stackOf(error) });
    },
  });
  router
    .add(CapacityProvider, provider.handlers)
    .add(ProviderAdmin, provider.adminHandlers)
    .add(Health, health.handlers);
  if (options.reflection) {
    router.add(
      ServerReflection,
      reflectionHandlers(() => router.services),
    );
  }
  return router;
}

/** A panic was reported by the router already; a peer that never got in is not worth a warning. */
function logConnectionError(logger: Logger, report: ServerErrorReport): void {
  if (report.kind === 'panic') return;
  const level = report.kind === 'connection-refused' ? 'info' : 'warn';
  logger.log(level, report.kind.replace('-', ' '), { peer: report.peerAddress, err: report.error });
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
