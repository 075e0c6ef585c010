// One replica: campaigns, leads while it may, and campaigns again. It also watches who leads, for
// redirects, probes and the term gauge, on followers too: a gauge that only moved when a report
// arrived stayed 0 on followers and hid elections. Losing the store is no reason to end the process:
// restarting replicas cannot restore a quorum.

import { BigFleetError, describeThrown, sleep } from '@bigfleet/base';
import type { LeaderHint, Leadership, LossReason, StoreStatus } from '../store/store.ts';
import type { LeaderTerm, LeaderTermOptions } from './leader-term.ts';

const OBSERVE_MS = 1_000;
const RETRY_MS = 1_000;

/** Stable texts of the readiness probe. */
export const NO_LEADER = 'no raft leader observed';
const EMPTY = 'store is empty and --bootstrap is not set';

type ReplicaParts = Pick<LeaderTermOptions, 'runtime' | 'logger' | 'store' | 'metrics'>;

export interface ReplicaOptions extends ReplicaParts {
  readonly startTerm: (leadership: Leadership) => Promise<LeaderTerm>;
  /** After every look at the store. */
  readonly onObserved: (observed: Observation) => void;
}

export interface Observation {
  readonly leader: LeaderHint | undefined;
  readonly status: StoreStatus | undefined;
  /** Why it is not ready; undefined = a leader is observed. */
  readonly problem: string | undefined;
}

export class Replica {
  readonly #options: ReplicaOptions;
  readonly #stopping = new AbortController();
  #isEmpty = false;
  #termFloor = 0n;
  /** Ends the leadership of now, to campaign again at once. */
  #handOver = new AbortController();
  #term: LeaderTerm | undefined;
  #observed: Observation = { leader: undefined, status: undefined, problem: NO_LEADER };
  #loops: Promise<unknown> = Promise.resolve();

  constructor(options: ReplicaOptions) {
    this.#options = options;
  }

  /** What is wrong with the store itself rejects; one that does not answer yet is waited for. */
  async start(): Promise<void> {
    const observing = this.#observe();
    this.#loops = observing;
    this.#isEmpty = (await this.#open()) === 'empty';
    // Whoever forgot the flag, or mounted the wrong volume, reads the log before the probe.
    if (this.#isEmpty) this.#options.logger.warn('not leading', { reason: EMPTY });
    this.#loops = Promise.all([this.#lead(), observing]);
  }

  /** Undefined unless this replica leads, is loaded, and is within its lease window. */
  leading(): LeaderTerm | undefined {
    return this.#term?.leadership.isWithinWindow() === true ? this.#term : undefined;
  }

  /** At most a second old. */
  observed(): Observation {
    return this.#observed;
  }

  /**
   * A shard knows a term above ours: what we say is dropped until ours is higher (coordinator
   * §10.3).
   */
  raiseAbove(observedTerm: bigint): void {
    this.#termFloor = observedTerm + 1n;
    this.#handOver.abort('resigned' satisfies LossReason);
  }

  async stop(): Promise<void> {
    this.#stopping.abort('resigned' satisfies LossReason);
    await this.#loops;
    await this.#options.store.close();
  }

  async #open(): Promise<'ready' | 'empty'> {
    for (;;) {
      try {
        return await this.#options.store.open();
      } catch (error) {
        const isOutage = error instanceof BigFleetError && error.code === 'etcd_unavailable';
        if (!isOutage || this.#stopping.signal.aborted) throw error;
        this.#options.logger.warn('store does not answer; trying again', { err: error.message });
      }
      await this.#pause(RETRY_MS);
    }
  }

  async #lead(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        if (this.#isEmpty) this.#isEmpty = (await this.#options.store.open()) === 'empty';
        if (!this.#isEmpty) await this.#leadOnce(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#options.logger.error('campaign failed; trying again', { err: describeThrown(error) });
      }
      if (!this.#handOver.signal.aborted) await this.#pause(RETRY_MS);
    }
  }

  async #leadOnce(stopping: AbortSignal): Promise<void> {
    const { store, metrics, startTerm, logger } = this.#options;
    const leadership = await store.campaign(stopping, this.#termFloor);
    this.#handOver = new AbortController();
    let reason: LossReason = 'lease_lost';
    metrics.onTransition('won');
    try {
      const term = await startTerm(leadership);
      this.#term = term;
      logger.info('leadership won', { term: String(leadership.term) });
      // At once: a redirect to the leader that was, or a probe that waits a second, costs failover.
      await this.#observeOnce();
      reason = await endOf([stopping, this.#handOver.signal, leadership.lost, term.ledger.lost]);
    } finally {
      const term = this.#term;
      this.#term = undefined;
      await term?.stop();
      await store.resign(leadership);
      metrics.onTransition(reason);
      logger.info('leadership ended', { term: String(leadership.term), reason });
    }
  }

  async #observe(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#observeOnce();
      await this.#pause(OBSERVE_MS);
    }
  }

  async #observeOnce(): Promise<void> {
    this.#observed = await this.#look();
    this.#options.onObserved(this.#observed);
  }

  /** A store that does not answer is a replica that sees no leader, not one that fails. */
  async #look(): Promise<Observation> {
    const { store, metrics } = this.#options;
    if (this.#isEmpty) return { leader: undefined, status: undefined, problem: EMPTY };
    try {
      const [leader, status] = await Promise.all([store.leader(), store.status()]);
      metrics.setTerms(leader?.term, status.storeRaftTerm);
      metrics.setStoreAlarms(status.alarms.length);
      return { leader, status, problem: leader === undefined ? NO_LEADER : undefined };
    } catch (error) {
      return {
        leader: undefined,
        status: undefined,
        problem: `${NO_LEADER}: ${describeThrown(error)}`,
      };
    }
  }

  /** Ends early, without an error, when the replica stops. */
  async #pause(ms: number): Promise<void> {
    await sleep(this.#options.runtime, ms, this.#stopping.signal).catch(() => undefined);
  }
}

/** The first of the signals; its reason when it names one. */
function endOf(signals: Iterable<AbortSignal>): Promise<LossReason> {
  return new Promise((resolve) => {
    const ended = AbortSignal.any([...signals]);
    const end = (): void => resolve(isLossReason(ended.reason) ? ended.reason : 'lease_lost');
    if (ended.aborted) end();
    else ended.addEventListener('abort', end, { once: true });
  });
}

function isLossReason(reason: unknown): reason is LossReason {
  return reason === 'resigned' || reason === 'lease_lost' || reason === 'guard_failed';
}
