// From settings to a serving process, in the order of provider-contract §17.3: backend, offerings, prices,
// store, kit, TLS, listeners, loops, ready. Whatever fails ends the start and closes what was
// opened, so that a refused start leaves no lock, socket or timer behind.
//
// Stopping: not ready first, then no more mutations, then work under way may finish within the
// grace (cutting it off would turn every rollout into failed machines), then the listeners.

import { BigFleetError } from '@bigfleet/base';
import {
  followCertificates,
  type HttpServer,
  type ListenAddress,
  parseListenAddress,
  startHttpServer,
  startProcessMetrics,
} from '@bigfleet/telemetry';
import { createProvider } from '../create-provider.ts';
import type { Provider, ShutdownReport } from '../provider.ts';
import { feedLoop, priceLoop } from './background.ts';
import { namesOf, type StartOptions } from './definition.ts';
import type { FlagTable } from '@bigfleet/process/flags';
import { dynamicFlag } from './provider-flags.ts';
import { createKitMetrics } from './metrics/kit-metrics.ts';
import { openStore } from './open-store.ts';
import { type Prepared, prepare } from './prepare.ts';
import { createGrpcEndpoint } from './serve/grpc-endpoint.ts';
import { ReadyGate } from './serve/ready-gate.ts';
import { type TransportSecurity, transportSecurity } from './serve/transport-security.ts';

const HTTP_CLOSE_WITHIN_MS = 5_000;
/** Providers A2; the rest are the defaults of the HTTP server. */
const HTTP_LIMITS = { idleTimeoutMs: 120_000 };

export interface RunningProvider {
  readonly provider: Provider;
  /** Where gRPC listens, ready to dial. */
  readonly address: string;
  /** Undefined when `--metrics-addr` is empty. */
  readonly metricsAddress: string | undefined;
  /** Idempotent. */
  stop(): Promise<ShutdownReport>;
}

/** Rejects with a BigFleetError of the catalogue when this process must not serve. */
export async function startProvider<Own extends FlagTable>(
  options: StartOptions<Own>,
): Promise<RunningProvider> {
  const { definition, settings, runtime, logger, registry } = options;
  // Before the kit, which may drive interrupted work on real machines as soon as it starts.
  const security = transportSecurity(settings.flags);
  const metricsListen = metricsAddress(settings.flags['metrics-addr']);
  await using opened = new AsyncDisposableStack();
  const ending = new AbortController();
  const gate = new ReadyGate();
  const { prepared, provider } = await startKit(options, gate, ending.signal);
  let report: Promise<ShutdownReport> | undefined;
  const shutDown = (graceMs: number): Promise<ShutdownReport> => {
    gate.stopping();
    ending.abort(new BigFleetError('cancelled', 'the process stops'));
    report ??= provider.shutdown(graceMs);
    return report;
  };
  opened.defer(async () => {
    await shutDown(0);
  });
  const build = {
    component: `provider-${definition.name}`,
    version: definition.version,
    revision: settings.env['BIGFLEET_REVISION'] ?? 'unknown',
  };
  const processMetrics = startProcessMetrics({ registry, clock: runtime.clock, build });
  opened.defer(() => processMetrics.stop());
  const server = createGrpcEndpoint({
    ...options,
    addr: settings.flags.addr,
    security,
    provider,
    health: gate.health,
    reflection: settings.flags.reflection,
    metricPrefix: namesOf(definition).metricPrefix,
  });
  const [address = ''] = await server.bind();
  opened.defer(() => server.stop());
  const http = await startHttpServer({
    runtime,
    address: metricsListen,
    registries: [registry],
    readiness: gate.readiness,
    logger,
    limits: HTTP_LIMITS,
  });
  opened.defer(() => http.close(HTTP_CLOSE_WITHIN_MS));
  // A Unix socket is neither plaintext nor has it a certificate to follow.
  if (security.mode === 'unix') processMetrics.transportInsecure.set(0);
  else {
    const { material: tls } = security;
    const certificates = followCertificates({ runtime, logger, tls, metrics: processMetrics });
    opened.defer(() => certificates.stop());
  }
  startLoops(options, { prepared, provider, signal: ending.signal });
  gate.started();
  logServing(options, { prepared, security, address, http });
  const release = opened.move();
  const stop = async (): Promise<ShutdownReport> => {
    const ended = await shutDown(settings.flags['shutdown-grace']);
    await release.disposeAsync();
    return ended;
  };
  return { provider, address, metricsAddress: http.address, stop };
}

interface StartedKit {
  readonly prepared: Prepared;
  readonly provider: Provider;
}

async function startKit<Own extends FlagTable>(
  options: StartOptions<Own>,
  gate: ReadyGate,
  signal: AbortSignal,
): Promise<StartedKit> {
  const { runtime, logger, registry, definition } = options;
  await using unowned = new AsyncDisposableStack();
  const prepared = await prepare({ ...options, signal }, ({ backend }) =>
    unowned.defer(async () => backend.close?.()),
  );
  const store = openStore(options, prepared.kind);
  // From here on the kit closes both, also when it fails to start.
  unowned.move();
  const provider = await createProvider({
    backend: prepared.setup.backend,
    store,
    runtime,
    options: prepared.kitOptions,
    observer: {
      ...createKitMetrics(registry, namesOf(definition).metricPrefix),
      readyChanged: (isReady, reasons) => gate.kitChanged(isReady, reasons),
    },
    logger,
  });
  gate.kitChanged(provider.ready, provider.notReadyReasons);
  return { prepared, provider };
}

function metricsAddress(text: string): ListenAddress {
  const address = parseListenAddress(text);
  if (address.ok) return address.value;
  throw new BigFleetError('flag_invalid', `--metrics-addr: ${address.error}`);
}

function startLoops<Own extends FlagTable>(
  { settings, runtime, logger }: StartOptions<Own>,
  { prepared, provider, signal }: StartedKit & { readonly signal: AbortSignal },
): void {
  const supervise = (name: string, loop: Promise<void>): void => {
    loop.catch((error: unknown) =>
      logger.error('background loop ended by a bug', { loop: name, err: String(error) }),
    );
  };
  const { prices, setup } = prepared;
  const intervalMs = dynamicFlag(settings.flags, 'price-refresh');
  if (prices !== undefined && typeof intervalMs === 'number' && intervalMs > 0) {
    supervise(
      'prices',
      priceLoop(prices, intervalMs, () => provider.reconcile()),
    );
  }
  const { watch } = setup;
  if (watch !== undefined) {
    const feed = (feedSignal: AbortSignal): Promise<void> => watch(provider, feedSignal);
    supervise('events', feedLoop(runtime, feed, { logger, signal }));
  }
}

function logServing<Own extends FlagTable>(
  { definition, settings, logger }: StartOptions<Own>,
  started: {
    readonly prepared: Prepared;
    readonly security: TransportSecurity;
    readonly address: string;
    readonly http: HttpServer;
  },
): void {
  const { backendFlag, realBackend } = namesOf(definition);
  const { prepared, security, address, http } = started;
  logger.info('serving CapacityProvider', {
    addr: address,
    provider: settings.flags.provider,
    [backendFlag.replaceAll('-', '_')]: prepared.kind === 'fake' ? 'fake' : realBackend,
    security: security.mode,
    offerings: prepared.offerings.length,
    state: settings.flags.state === '' ? 'memory' : settings.flags.state,
    metrics_addr: http.address ?? 'off',
  });
}
