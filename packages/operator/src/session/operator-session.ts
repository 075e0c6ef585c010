// The operator's side of the session for as long as the process lives: dial, run one session, back
// off, dial again. Backoff doubles from 500 ms to 30 s with full jitter, so that a restarted shard
// does not get every cluster at the same instant, and starts over once a session has proven itself:
// otherwise an operator that lived through a few blips pays 30 s for every later one.
//
// On stop it dials no more first, then closes the stream, lets writes that run finish within their
// grace, and leaves drains to the next process. Two operators for one cluster would replace each
// other for ever, so one that was replaced waits near the longest backoff before it tries again.

import {
  Backoff,
  type ClusterId,
  describeThrown,
  runWithDeadline,
  type Runtime,
  sleep,
} from '@bigfleet/base';
import { createSampledMessage, type Logger } from '@bigfleet/telemetry';
import { type Channel, RpcError } from '@bigfleet/wire';
import { Acknowledger } from './acknowledger.ts';
import type { ClusterObserver, ClusterPort } from './cluster-port.ts';
import { Supervisor, rethrowBug } from './supervisor.ts';
import { hintLane, nodeStateLane } from './lanes.ts';
import { dispatchFailed, sessionEnded, sessionRefused } from './log-messages.ts';
import type { OperatorMetrics } from './metrics.ts';
import { Reclaims } from './reclaims.ts';
import { RollupBuilder } from './rollup-builder.ts';
import type { SessionServices } from './dispatch.ts';
import { Session } from './session.ts';
import { defaultSessionSettings, type SessionSettings } from './settings.ts';
import { WorkPool } from './work-pool.ts';

export interface OperatorSessionOptions {
  readonly runtime: Runtime;
  readonly clusterId: ClusterId;
  readonly cluster: ClusterPort;
  /** A new channel per attempt, with the certificates of the moment. The session closes it. */
  readonly dial: () => Channel;
  readonly metrics: OperatorMetrics;
  readonly logger: Logger;
  readonly settings?: Partial<SessionSettings>;
}

const DISPATCH_FAILURES_PER_SECOND = 10;

export class OperatorSession {
  readonly #options: OperatorSessionOptions;
  readonly #settings: SessionSettings;
  readonly #supervisor = new Supervisor();
  readonly #pool: WorkPool;
  readonly #services: SessionServices;
  readonly #backoff: Backoff;
  readonly #replacedBackoff: Backoff;
  /** Drains end with it, at once. */
  readonly #stopped = new AbortController();
  /** Writes end with it, after their grace. */
  readonly #lifetime = new AbortController();
  #session: Session | undefined;

  constructor(options: OperatorSessionOptions) {
    const { runtime } = options;
    this.#options = options;
    this.#settings = { ...defaultSessionSettings, ...options.settings };
    const { backoffInitialMs: initialMs, backoffMaxMs: maxMs } = this.#settings;
    const jitter = runtime.random.stream('session-backoff');
    this.#backoff = new Backoff(jitter, { initialMs, maxMs, jitter: 1 });
    this.#replacedBackoff = new Backoff(jitter, { initialMs: maxMs, maxMs, jitter: 0.5 });
    this.#pool = new WorkPool({
      concurrency: this.#settings.dispatchConcurrency,
      queueCapacity: this.#settings.maxWaitingKeys,
      supervisor: this.#supervisor,
      onRunning: (count) => options.metrics.dispatchInflight.set(count),
    });
    this.#services = this.#createServices();
  }

  /** The shard has acknowledged the hello of the current session. */
  get isConnected(): boolean {
    return this.#session?.isAcknowledged === true;
  }

  /** Resolves after a stop; rejects only for a bug. Once per instance. */
  async run(stop: AbortSignal): Promise<void> {
    const { cluster } = this.#options;
    const halt = AbortSignal.any([stop, this.#supervisor.signal]);
    const unwatch = cluster.watch(this.#observer);
    for (const drain of cluster.interruptedDrains()) this.#services.reclaims.resume(drain);
    try {
      while (!halt.aborted) await this.#attempt(halt);
    } finally {
      unwatch();
      await this.#shutDown();
    }
    if (this.#supervisor.signal.aborted) throw this.#supervisor.signal.reason;
  }

  async #attempt(halt: AbortSignal): Promise<void> {
    const { runtime, metrics, logger } = this.#options;
    const ended = await this.#runSession(halt);
    if (halt.aborted) return;
    const isReplaced = hasStatus(ended, 'ABORTED');
    const backoffMs = (isReplaced ? this.#replacedBackoff : this.#backoff).nextMs();
    metrics.sessionReconnects.inc();
    const backoff = `${Math.ceil(backoffMs)}ms`;
    const isRefused = isReplaced || hasStatus(ended, 'PERMISSION_DENIED');
    logger.event(isRefused ? sessionRefused : sessionEnded, { err: textOf(ended), backoff });
    await sleep(runtime, backoffMs, halt).catch(rethrowUnlessAborted(halt));
  }

  async #runSession(halt: AbortSignal): Promise<unknown> {
    let channel: Channel;
    try {
      channel = this.#options.dial();
    } catch (thrown) {
      // Bad certificates, a bad address: the next attempt may find better ones.
      rethrowBug(thrown);
      return thrown;
    }
    const session = new Session(this.#services, () => this.#backoff.reset());
    const onHalt = (): void => session.end(halt.reason);
    halt.addEventListener('abort', onHalt);
    this.#session = session;
    try {
      return await session.run(channel);
    } finally {
      this.#session = undefined;
      halt.removeEventListener('abort', onHalt);
    }
  }

  async #shutDown(): Promise<void> {
    const { runtime } = this.#options;
    this.#stopped.abort(new Error('the operator stops'));
    this.#pool.close();
    const { acknowledger, rollups, dispatchFailed: failures, nodeStates, hints } = this.#services;
    acknowledger.close();
    for (const lane of [nodeStates, hints]) this.#supervisor.watch(lane.forgetPending());
    const flushed = runWithDeadline(runtime, { ms: this.#settings.stopGraceMs }, () =>
      this.#supervisor.settled(),
    );
    await flushed.catch(() => this.#lifetime.abort(new Error('the operator stops')));
    await this.#supervisor.settled();
    rollups.close();
    failures.close();
  }

  readonly #observer: ClusterObserver = {
    demandChanged: () => this.#session?.demandChanged(),
    nodeLinked: (link) => this.#session?.nodeLinked(link),
    nodeUnlinked: (machineId) => this.#session?.nodeUnlinked(machineId),
    phantomsChanged: () => this.#session?.phantomsChanged(),
  };

  #createServices(): SessionServices {
    const { runtime, clusterId, cluster, metrics, logger } = this.#options;
    const settings = this.#settings;
    const supervisor = this.#supervisor;
    const context = { runtime, clusterId, cluster, settings, metrics, logger, supervisor };
    const failures = createSampledMessage({
      runtime,
      logger,
      message: dispatchFailed,
      perSecond: DISPATCH_FAILURES_PER_SECOND,
    });
    const pool = this.#pool;
    const writes = { ...context, lifetime: this.#lifetime.signal, pool, dispatchFailed: failures };
    const drains = { ...context, lifetime: this.#stopped.signal, pool };
    return {
      ...context,
      dispatchFailed: failures,
      nodeStates: nodeStateLane(writes),
      hints: hintLane(writes),
      reclaims: new Reclaims({ ...drains, replies: () => this.#session }),
      acknowledger: new Acknowledger(writes),
      rollups: new RollupBuilder(context),
    };
  }
}

function hasStatus(ended: unknown, code: RpcError['code']): boolean {
  return ended instanceof RpcError && ended.code === code;
}

function textOf(ended: unknown): string {
  return ended instanceof RpcError ? `${ended.code}: ${ended.message}` : describeThrown(ended);
}

function rethrowUnlessAborted(signal: AbortSignal): (thrown: unknown) => void {
  return (thrown) => {
    if (!signal.aborted) throw thrown;
  };
}
