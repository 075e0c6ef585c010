// The part of a start that decides what this process is, and refuses before anything is opened:
// backend, offerings, prices, readiness source (provider-contract §17.3).

import { BigFleetError, describeThrown } from '@bigfleet/base';
import type { ProviderOptions } from '../options.ts';
import { type PriceRefreshOptions, refreshPrices } from './background.ts';
import {
  type BackendKind,
  type BackendSetup,
  namesOf,
  type ProviderDefinition,
  type Settings,
  type StartOptions,
} from './definition.ts';
import type { FlagTable } from '@bigfleet/process/flags';
import { createApiMetrics, createPriceMetrics } from './metrics/api-metrics.ts';
import { defaultMix, type Offering, refuseUnpriced } from './offerings/offering.ts';
import { dynamicFlag } from './provider-flags.ts';
import { type ReadinessChecker, trustJoinHook } from '../backend/readiness.ts';
import { readFile } from 'node:fs/promises';
import { parseOfferings } from './offerings/parse-offerings.ts';

interface PrepareOptions<Own extends FlagTable> extends StartOptions<Own> {
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
  const { definition, settings } = options;
  const kind = chooseBackend(definition, settings);
  const offerings = await loadOfferings(definition, settings);
  const setup = await createBackend(options, kind, offerings);
  onBackend(setup);
  const prices = priceRefresh(options, setup);
  if (prices !== undefined) await refreshPrices(prices);
  refuseUnpriced(offerings, setup.priceOf);
  const readiness = chooseReadiness(options, kind, setup);
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

/**
 * Which backend runs, decided before anything else and closed on doubt: the fake only when someone
 * asked for it by name. An operator who forgot a flag once got a fleet of imaginary machines.
 * Throws `backend_not_configured` or `flag_invalid`.
 */
function chooseBackend<Own extends FlagTable>(
  definition: ProviderDefinition<Own>,
  settings: Settings<Own>,
): BackendKind {
  const { backendFlag, realBackend } = namesOf(definition);
  const asked = dynamicFlag(settings.flags, backendFlag);
  const asksFake = settings.flags['use-fake-backend'];
  if (asksFake && asked === realBackend) {
    const text = `--use-fake-backend and --${backendFlag}=${realBackend} contradict each other`;
    throw new BigFleetError('flag_invalid', text);
  }
  if (asksFake || asked === 'fake') return 'fake';
  const missing = definition.missingConfiguration?.(settings);
  if (missing === undefined) {
    throw refused(`provider ${definition.name} has no real backend`);
  }
  if (missing.length > 0) {
    throw refused(`the ${realBackend} backend is not configured: missing ${missing.join(', ')}`);
  }
  return 'real';
}

function refused(problem: string): BigFleetError {
  const text = `${problem}. Only to simulate machines, start it with --use-fake-backend`;
  return new BigFleetError('backend_not_configured', text);
}

/**
 * Who confirms that a node is Ready (providers A6). `auto` takes the source that the backend brings;
 * `hook` trusts the join hook and is never chosen by itself; `none` exists for the fake alone.
 * A real backend without an answer does not start: it would report Configured too early, and the
 * shard would believe in capacity that no pod can use.
 * Undefined: the backend confirms it itself. Throws `flag_invalid` or `backend_not_configured`.
 */
function chooseReadiness<Own extends FlagTable>(
  { settings, logger }: PrepareOptions<Own>,
  kind: BackendKind,
  setup: BackendSetup,
): ReadinessChecker | undefined {
  const source = settings.flags['readiness-source'];
  const offered = setup.readiness ?? {};
  if (source === 'hook') {
    logger.warn('node readiness trusts the exit code of the join hook');
    return trustJoinHook;
  }
  if (source === 'none') {
    if (kind === 'fake') return trustJoinHook;
    throw new BigFleetError('flag_invalid', '--readiness-source=none is for the fake backend only');
  }
  if (source !== 'auto') {
    const chosen = offered[source];
    if (chosen !== undefined) return chosen;
    throw new BigFleetError('flag_invalid', `--readiness-source=${source}: not configured here`);
  }
  const only = offered['kubeconfig-dir'] ?? offered.agent;
  if (only !== undefined) return only;
  if (setup.backend.confirmNodeReady !== undefined) return undefined;
  if (kind === 'fake') return trustJoinHook;
  throw new BigFleetError(
    'backend_not_configured',
    'nothing confirms that nodes are Ready: configure a --readiness-source, because a node that ' +
      'counts before it is Ready is capacity that no pod can use',
  );
}

/** The offerings file when there is one, else the built-in mix. Throws `offerings_invalid`. */
async function loadOfferings<Own extends FlagTable>(
  definition: ProviderDefinition<Own>,
  { flags }: Settings<Own>,
): Promise<readonly Offering[]> {
  const file = flags.offerings;
  if (file !== '') return parseOfferings(await contentOf(file), file, definition.offerings);
  const mix = defaultMix(definition.defaultMix, flags['seed-count']);
  if (mix.length > 0) return mix;
  throw new BigFleetError(
    'offerings_invalid',
    'there is nothing to offer: --seed-count is 0 and no --offerings file is given',
  );
}

async function contentOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new BigFleetError('offerings_invalid', `offerings file: ${describeThrown(cause)}`, {
      fields: { file },
      cause,
    });
  }
}
