// The running drains of the cluster, one per node. They belong to the process, not to a stream: a
// lost session does not stop an eviction, and an instruction that names a draining node joins it.
// Bounded by the nodes of the cluster: only what a cordon found, or could not reach, is drained.

import type { Runtime } from '@bigfleet/base';
import { durationSeconds, type Logger } from '@bigfleet/telemetry';
import type { ClusterPort, DrainOutcome, DrainTarget } from './cluster-port.ts';
import { Drain } from './drain.ts';
import { asLogValue } from './supervisor.ts';
import { drainRetry } from './log-messages.ts';
import type { OperatorMetrics } from './metrics.ts';

export interface DrainsOptions {
  readonly runtime: Runtime;
  readonly cluster: Pick<ClusterPort, 'drain'>;
  readonly metrics: Pick<OperatorMetrics, 'drainDuration'>;
  readonly logger: Logger;
  /** The process stops; what is left to do is found again at its next start. */
  readonly lifetime: AbortSignal;
}

export interface DrainRequest {
  readonly target: DrainTarget;
  readonly instructionId: string;
  /** Monotonic. */
  readonly deadlineMs: number;
}

interface RunningDrain {
  readonly drain: Drain;
  readonly outcome: Promise<DrainOutcome>;
}

export class Drains {
  readonly #options: DrainsOptions;
  readonly #running = new Map<string, RunningDrain>();

  constructor(options: DrainsOptions) {
    this.#options = options;
  }

  /** Starts the drain, or joins the one that runs and may shorten it. Rejects at shutdown only. */
  join(request: DrainRequest): Promise<DrainOutcome> {
    const key = keyOf(request.target);
    const known = this.#running.get(key);
    if (known !== undefined) {
      known.drain.shorten(request.deadlineMs);
      return known.outcome;
    }
    const drain = this.#create(request);
    const outcome = this.#run(key, drain);
    this.#running.set(key, { drain, outcome });
    return outcome;
  }

  shorten(target: DrainTarget, deadlineMs: number): void {
    this.#running.get(keyOf(target))?.drain.shorten(deadlineMs);
  }

  #create({ target, instructionId, deadlineMs }: DrainRequest): Drain {
    const { runtime, cluster, lifetime, logger } = this.#options;
    return new Drain({
      runtime,
      cluster,
      target,
      instructionId,
      deadlineMs,
      lifetime,
      onRetry: (thrown) => {
        logger.event(drainRetry, { id: instructionId, node: target.node, err: asLogValue(thrown) });
      },
    });
  }

  async #run(key: string, drain: Drain): Promise<DrainOutcome> {
    try {
      const outcome = await drain.run();
      const nowMs = this.#options.runtime.clock.monotonicMs();
      const seconds = durationSeconds(drain.startMs, nowMs);
      this.#options.metrics.drainDuration.labels({ outcome: outcome.kind }).observe(seconds);
      return outcome;
    } finally {
      this.#running.delete(key);
    }
  }
}

/** By machine where the shard says it: the node's name may become known while it drains. */
function keyOf({ machineId, node }: DrainTarget): string {
  return machineId === '' ? `node ${node}` : `machine ${machineId}`;
}
