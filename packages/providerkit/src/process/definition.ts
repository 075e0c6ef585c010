// What a provider says about itself; everything else of its process is shared (provider-contract §17). A main
// file passes this to `runProvider` and holds no logic of its own.

import type { Runtime } from '@bigfleet/base';
import type { FlagTable, FlagValues } from '@bigfleet/process/flags';
import type { Logger, MetricRegistry } from '@bigfleet/telemetry';
import type { Backend } from '../backend/backend.ts';
import type { ReadinessChecker } from '../backend/readiness.ts';
import type { ProviderOptions } from '../options.ts';
import type { Provider } from '../provider.ts';
import type { JournalLimits } from '../store/journal/options.ts';
import type { CommonFlags, ReadinessSourceName } from './common-flags.ts';
import type { ApiMetrics } from './metrics/api-metrics.ts';
import type { MixBucket, Offering, PriceOf } from './offerings/offering.ts';
import type { OfferingRules } from './offerings/parse-offerings.ts';

export type BackendKind = 'real' | 'fake';

export interface ProviderDefinition<Own extends FlagTable = FlagTable> {
  /** The folder's name, e.g. `hetzner`: binary, log component, defaults of flags and metrics. */
  readonly name: string;
  readonly version: string;
  /** `<p>` in `bigfleet_<p>_…`; the name with underscores when absent. */
  readonly metricPrefix?: string;
  /** Default of `--provider`; the name when absent. */
  readonly label?: string;
  /** The flag that chooses the backend, without dashes; `<name>-backend` when absent. */
  readonly backendFlag?: string;
  /** The real backend's name in that flag; the name when absent. */
  readonly realBackend?: string;
  readonly flags?: Own;
  readonly offerings: OfferingRules;
  /** Buckets that `--seed-count` fills when there is no offerings file. */
  readonly defaultMix: readonly MixBucket[];
  /** Default of `--price-refresh`; absent where prices never change while the process runs. */
  readonly priceRefreshMs?: number;
  /** Calls of the vendor's API that are counted, e.g. `CreateServer`. */
  readonly apiOperations?: readonly string[];
  /** `api` in `bigfleet_<p>_api_calls_total`; AWS says `ec2_api`. */
  readonly apiName?: string;
  /** Timeouts and rules of the kit; flags override what they cover. */
  readonly kit?: ProviderOptions;
  /** Bounds of the durable store, where its defaults don't fit. */
  readonly journal?: Partial<JournalLimits>;
  /**
   * What the real backend still needs, as an operator would name it (`--region`). Absent: there is
   * no real backend, and only an explicit request for the fake starts this provider.
   */
  readonly missingConfiguration?: (settings: Settings<Own>) => readonly string[];
  createBackend(context: BackendContext<Own>): Promise<BackendSetup> | BackendSetup;
}

/** The flags of a process, and the environment for credentials that never are flags. */
export interface Settings<Own extends FlagTable = FlagTable> {
  readonly flags: FlagValues<CommonFlags> & FlagValues<Own>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a process of a provider starts with. */
export interface StartOptions<Own extends FlagTable = FlagTable> {
  readonly definition: ProviderDefinition<Own>;
  readonly settings: Settings<Own>;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
}

export interface BackendContext<Own extends FlagTable = FlagTable> extends Settings<Own> {
  readonly kind: BackendKind;
  /** `--provider`. */
  readonly provider: string;
  readonly offerings: readonly Offering[];
  readonly runtime: Runtime;
  readonly logger: Logger;
  /** Counts the calls of `apiOperations`. */
  readonly api: ApiMetrics;
  /** For series of this provider alone, under the same prefix. */
  readonly registry: MetricRegistry;
}

export interface BackendSetup {
  readonly backend: Backend;
  /** From memory; undefined or 0 for a type without a price, which refuses to start. */
  readonly priceOf: PriceOf;
  /** Fills the price cache: once at start (best effort, bounded), then every `--price-refresh`. */
  readonly refreshPrices?: (signal: AbortSignal) => Promise<void>;
  /** Readiness sources of this provider, besides `hook`. */
  readonly readiness?: Partial<Record<ReadinessSourceName, ReadinessChecker>>;
  /** Feeds of interruption or host-loss events; runs until the signal aborts. */
  readonly watch?: (provider: Provider, signal: AbortSignal) => Promise<void>;
}

/**
 * The names that follow from a provider's own: derived in one place, so that a copied template gets
 * all of them from its folder.
 */
export type ProviderNames = Readonly<
  Record<'command' | 'label' | 'backendFlag' | 'realBackend' | 'metricPrefix', string>
>;

export function namesOf<Own extends FlagTable>(definition: ProviderDefinition<Own>): ProviderNames {
  const { name } = definition;
  return {
    command: `bigfleet-provider-${name}`,
    label: definition.label ?? name,
    backendFlag: definition.backendFlag ?? `${name}-backend`,
    realBackend: definition.realBackend ?? name,
    metricPrefix: `bigfleet_${definition.metricPrefix ?? name.replaceAll('-', '_')}`,
  };
}
