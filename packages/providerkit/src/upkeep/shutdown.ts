// A stop that loses nothing (provider-contract §17.3): refuse mutations, let what runs finish within the
// grace, let go of the rest without recording a failure (the next start drives it again), save what
// is not saved, close. Otherwise every rollout would turn all machines in transition into Failed.
// Reads are served until the process ends.

import { BigFleetError, withDeadline } from '@bigfleet/base';
import type { ShutdownReport } from '../provider.ts';
import type { Kit } from '../work/kit.ts';
import type { UnsavedSaver } from '../work/unsaved-saver.ts';
import { waitFor } from '../work/background.ts';
import type { Workers } from '../work/workers.ts';

interface RunningKit extends Omit<Kit, 'lifetime'> {
  readonly workers: Workers;
  readonly saver: UnsavedSaver;
  readonly lifetime: AbortController;
}

/** For what must still be written once the work has ended: results, and what was not saved. */
const CLOSING_MS = 5_000;

export async function shutDown(kit: RunningKit, graceMs: number): Promise<ShutdownReport> {
  const { runtime, logger, sections, workers, ready } = kit;
  ready.block('stopping');
  const grace = withDeadline(runtime, graceMs);
  // Accepts that are in their section now still start their work; after this none can.
  await waitFor(sections.whenIdle(), grace.signal);
  const startedCount = workers.activeCount;
  await workers.whenIdle(grace.signal);
  grace.dispose();
  const interruptedCount = await close(kit);
  const finishedCount = startedCount - interruptedCount;
  logger.info('provider stopped', {
    finished_count: finishedCount,
    interrupted_count: interruptedCount,
  });
  return { finishedCount, interruptedCount };
}

/** Returns how many transitions were let go. */
async function close(kit: RunningKit): Promise<number> {
  const { runtime, backend, store, sections, workers, saver, lifetime } = kit;
  const closing = withDeadline(runtime, CLOSING_MS);
  const interruptedCount = await workers.stop(closing.signal);
  lifetime.abort(new BigFleetError('cancelled', 'the provider has stopped'));
  await waitFor(sections.whenIdle(), closing.signal);
  await waitFor(saver.flush(), closing.signal);
  closing.dispose();
  try {
    await backend.close?.();
  } finally {
    await store.close();
  }
  return interruptedCount;
}
