// Work beside the calls: the price refresh and the provider's own event feed. One run at a time,
// each bounded, errors counted and logged, everything ends with the process's signal.

import { describeThrown, runWithDeadline, type Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import { slept } from '../work/background.ts';
import type { PriceMetrics } from './metrics/api-metrics.ts';

/** One refresh, at start and later: a price list that takes longer is as good as unreachable. */
const PRICE_TIMEOUT_MS = 90_000;
const FEED_RETRY_MS = 5_000;

export interface PriceRefreshOptions {
  readonly runtime: Runtime;
  readonly refresh: (signal: AbortSignal) => Promise<void>;
  readonly metrics: PriceMetrics;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Best effort: an error keeps the prices that are known. */
export async function refreshPrices(options: PriceRefreshOptions): Promise<void> {
  const { runtime, refresh, metrics, logger, signal } = options;
  try {
    await runWithDeadline(runtime, { ms: PRICE_TIMEOUT_MS, parent: signal }, refresh);
    metrics.refreshed('success');
  } catch (error) {
    if (signal.aborted) return;
    metrics.refreshed('error');
    logger.warn('price refresh failed, known prices stay', { err: describeThrown(error) });
  }
}

/** `published` runs after each refresh that may have changed something. Ends with the signal. */
export async function priceLoop(
  options: PriceRefreshOptions,
  intervalMs: number,
  published: () => Promise<unknown>,
): Promise<void> {
  const { runtime, signal } = options;
  while (await slept(runtime, intervalMs, signal)) {
    await refreshPrices(options);
    await published();
  }
}

/** Starts the feed again when it fails. Ends with the signal, or when the feed ends by itself. */
export async function feedLoop(
  runtime: Runtime,
  feed: (signal: AbortSignal) => Promise<void>,
  context: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const { logger, signal } = context;
  do {
    try {
      await feed(signal);
      return;
    } catch (error) {
      if (signal.aborted) return;
      logger.warn('event feed failed, it is started again', { err: describeThrown(error) });
    }
  } while (await slept(runtime, FEED_RETRY_MS, signal));
}
