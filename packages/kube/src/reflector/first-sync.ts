// Whether a process knows its cluster yet: ready once every collection had its first full list, and
// until then the reason that a person can act on. A process waits for an API server for as long as it
// takes: ending would only make a hot server hotter (kubernetes §5.5, §6.1); after ten minutes it says so
// loudly.

import { type Runtime, sleep, type Timer } from '@bigfleet/base';
import {
  createSampledMessage,
  type Logger,
  type LogMessage,
  type ReadinessSource,
  type ReadyState,
  type SampledMessage,
} from '@bigfleet/telemetry';
import type { ReflectorFailure } from './reflector.ts';

export interface FirstSyncOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  /** Collections whose first full list is not complete. */
  readonly unsynced: () => readonly string[];
}

const watchFailed: LogMessage<'resource' | 'what' | 'code' | 'err'> = {
  level: 'warn',
  text: 'watch failed; trying again',
};
const synced: LogMessage<'seconds'> = { level: 'info', text: 'caches synced' };
const overdue: LogMessage<'waiting_for' | 'err'> = {
  level: 'error',
  text: 'caches not synced for ten minutes; still trying',
};

const FAILURES_PER_SECOND = 5;
const POLL_MS = 50;
const OVERDUE_MS = 600_000;
const OWNER_HINT = "; install the CRDs (api/crd) and the chart's RBAC";

export class FirstSync implements ReadinessSource {
  readonly #options: FirstSyncOptions;
  readonly #failures: SampledMessage<'resource' | 'what' | 'code' | 'err', never>;
  /** The last failure of each collection that waits for its first list. */
  readonly #problems = new Map<string, string>();
  #isStopping = false;

  constructor(options: FirstSyncOptions) {
    this.#options = options;
    const { runtime, logger } = options;
    const perSecond = FAILURES_PER_SECOND;
    this.#failures = createSampledMessage({ runtime, logger, message: watchFailed, perSecond });
  }

  failed(resource: string, { what, code, problem, needsOwner }: ReflectorFailure): void {
    this.#failures.log({ resource, what, code, err: problem });
    // One line: a proxy's page has many.
    const line = problem.replaceAll(/\s+/g, ' ').trim();
    this.#problems.set(resource, `${what}: ${line}${needsOwner ? OWNER_HINT : ''}`);
  }

  state(): ReadyState {
    if (this.#isStopping) return { ready: false, reason: 'shutting down' };
    const waiting = this.#options.unsynced();
    if (waiting.length === 0) return { ready: true };
    const problem = this.#problemOf(waiting);
    const reason = `caches not synced: ${waiting.join(', ')}`;
    return { ready: false, reason: problem === '' ? reason : `${reason} (${problem})` };
  }

  /** False when `signal` came first. */
  async done(signal: AbortSignal): Promise<boolean> {
    const { runtime, logger, unsynced } = this.#options;
    const startMs = runtime.clock.monotonicMs();
    let timer: Timer | undefined;
    const arm = (): void => {
      timer = runtime.timers.after(OVERDUE_MS, () => {
        const waiting = unsynced();
        logger.event(overdue, { waiting_for: [...waiting], err: this.#problemOf(waiting) });
        arm();
      });
    };
    arm();
    while (!signal.aborted && unsynced().length > 0) {
      await sleep(runtime, POLL_MS, signal).catch(() => undefined);
    }
    timer?.cancel();
    if (signal.aborted) return false;
    const seconds = (runtime.clock.monotonicMs() - startMs) / 1000;
    logger.event(synced, { seconds: Number(seconds.toFixed(3)) });
    return true;
  }

  /** From now on `/readyz` says that the process ends. */
  stop(): void {
    this.#isStopping = true;
  }

  close(): void {
    this.#failures.close();
  }

  #problemOf(waiting: readonly string[]): string {
    const name = waiting.find((each) => this.#problems.has(each));
    return name === undefined ? '' : (this.#problems.get(name) ?? '');
  }
}
