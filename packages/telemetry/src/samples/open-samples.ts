// The raw samples of a process that was asked for them with --trace-samples.

import type { Runtime } from '@bigfleet/base';
import type { Logger } from '../logs/logger.ts';
import type { MetricRegistry } from '../metrics/registry.ts';
import { openSampleFile } from './file.ts';
import { SampleTrace } from './trace.ts';

export interface OpenSamplesOptions {
  /** Empty: no samples. */
  readonly path: string;
  readonly runtime: Pick<Runtime, 'clock' | 'timers'>;
  readonly registry: MetricRegistry;
  readonly logger: Logger;
}

/** Closed by `opened`. */
export async function openSamples(
  { path, runtime, registry, logger }: OpenSamplesOptions,
  opened: AsyncDisposableStack,
): Promise<SampleTrace | undefined> {
  if (path === '') return undefined;
  const file = await openSampleFile(path);
  const onError = (error: Error): void => logger.error('samples are lost', { err: error });
  const samples = new SampleTrace({ runtime, file, registry, onError });
  opened.defer(() => samples.close());
  return samples;
}
