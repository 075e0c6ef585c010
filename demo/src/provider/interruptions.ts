// The spot market takes machines back: a notice first, the loss of the host a moment later. Only
// machines that serve a cluster are taken, because nobody would notice another one.

import { type Runtime, sleep } from '@bigfleet/base';
import type { Provider } from '@bigfleet/providerkit';
import type { SimulatedBackend } from './backend.ts';
import { NOTICE_MS, type Pace } from './pace.ts';

/** Nothing to take yet: look again. */
const RETRY_MS = 250;

export interface InterruptionOptions {
  readonly runtime: Runtime;
  readonly pace: Pace;
  readonly backend: SimulatedBackend;
  readonly onInterrupted: () => void;
}

/** Runs until the signal aborts; then rejects with its reason. */
export async function interruptSpotHosts(
  options: InterruptionOptions,
  provider: Pick<Provider, 'reportInterruption' | 'reportHostLost'>,
  signal: AbortSignal,
): Promise<void> {
  const { runtime, pace } = options;
  for (;;) {
    await sleep(runtime, pace.interruptionMs(), signal);
    while (!(await interruptOne(options, provider, signal))) await sleep(runtime, RETRY_MS, signal);
  }
}

/** False when no machine could be taken. */
async function interruptOne(
  { runtime, pace, backend, onInterrupted }: InterruptionOptions,
  provider: Pick<Provider, 'reportInterruption' | 'reportHostLost'>,
  signal: AbortSignal,
): Promise<boolean> {
  const candidates = backend.joinedSpotHosts();
  if (candidates.length === 0) return false;
  const victim = pace.victim(candidates);
  await provider.reportInterruption({ hostRef: victim.ref, notice: 'termination' });
  await sleep(runtime, NOTICE_MS, signal);
  if (!(await backend.lose(victim))) return false;
  const outcome = await provider.reportHostLost(victim.machineId, 'simulated spot interruption');
  if (outcome !== 'failed') return false;
  onInterrupted();
  return true;
}
