// The part of a start that decides what this process is, and refuses before anything is opened:
// backend, offerings, prices, readiness source (provider-contract §17.3).

import type { Runtime } from '@bigfleet/base';
import type { Logger, MetricRegistry } from '@bigfleet/telemetry';
import type { ProviderOptions } from '../options.ts';
import { type PriceRefreshOptions, refreshPrices } from './background.ts';
import { chooseBackend } from './choose-backend.ts';
import { chooseReadiness } from './choose-readiness.ts';
import type { BackendKind, BackendSetup, ProviderDefinition, Settings } from './definition.ts';
import type { FlagTable } from '@bigfleet/process/flags';
import { loadOfferings } from './load-offerings.ts';
import { createApiMetrics } from './metrics/api-metrics.ts';
import { createPriceMetrics } from './metrics/price-metrics.ts';
import { namesOf } from './names.ts';
import type { Offering } from './offerings/offering.ts';
import { refuseUnpriced } from './offerings/price-check.ts';

export interface PrepareOptions<Own extends FlagTable> {
  readonly definition: ProviderDefinition<Own>;
  readonly settings: Settings<Own>;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
  /** Ends with the process. */
  readonly signal: AbortSignal;
}

export interface Prepared {
  readonly kind: BackendKind;
  readonly offerings: readonly Offering[];
  readonly setup: BackendSetup;
  readonly kitOptions: ProviderOptions;
  /** Undefined when this provider has no live prices. */
  readonly prices: PriceRefreshOptions | undefined;
}

/** `onBackend` sees the backend as soon as it exists, so that a later refusal can close it. */
export async function prepare<Own extends FlagTable>(
  options: PrepareOptions<Own>,
  onBackend: (setup: BackendSetup) => void,
): Promise<Prepared> {
  const { definition, settings, logger } = options;
  const kind = chooseBackend(definition, settings);
  const offerings = await loadOfferings(definition, settings);
  const setup = await createBackend(options, kind, offerings);
  onBackend(setup);
  const prices = priceRefresh(options, setup);
  if (prices !== undefined) await refreshPrices(prices);
  refuseUnpriced(offerings, setup.priceOf);
  const source = settings.flags['readiness-source'];
  const readiness = chooseReadiness({ source, kind, setup, logger });
  const kitOptions: ProviderOptions = {
    ...definition.kit,
    reconcileIntervalMs: settings.flags['reconcile-interval'],
    requireFence: settings.flags['require-fence'],
    strictTokens: settings.flags['strict-tokens'],
    failedCleanupAfterMs: settings.flags['failed-cleanup-after'],
    ...(readiness === undefined ? {} : { readiness }),
  };
  return { kind, offerings, setup, kitOptions, prices };
}

async function createBackend<Own extends FlagTable>(
  options: PrepareOptions<Own>,
  kind: BackendKind,
  offerings: readonly Offering[],
): Promise<BackendSetup> {
  const { definition, settings, runtime, logger, registry } = options;
  const api = createApiMetrics({
    registry,
    clock: runtime.clock,
    prefix: `${namesOf(definition).metricPrefix}_${definition.apiName ?? 'api'}`,
    operations: definition.apiOperations ?? [],
  });
  const provider = settings.flags.provider;
  const context = { ...settings, kind, provider, offerings, runtime, logger, api, registry };
  return definition.createBackend(context);
}

function priceRefresh<Own extends FlagTable>(
  { definition, runtime, logger, registry, signal }: PrepareOptions<Own>,
  { refreshPrices: refresh }: BackendSetup,
): PriceRefreshOptions | undefined {
  if (refresh === undefined) return undefined;
  const { metricPrefix } = namesOf(definition);
  const metrics = createPriceMetrics(registry, metricPrefix, runtime.clock);
  return { runtime, refresh, metrics, logger, signal };
}
