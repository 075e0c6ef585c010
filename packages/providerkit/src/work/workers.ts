// Runs accepted transitions in the background: one work item per accepted transition, under its
// timeout, with a signal (provider-contract §5, §10). A result counts only while its item is still the
// active one of its machine; a backend that ignores cancellation and finishes late is discarded.
// Stopping never fails a machine: what can't finish in the grace is left for the next start.

import { assert, describeThrown, orAborted, withDeadline } from '@bigfleet/base';
import { detached, edges } from '../model/machine.ts';
import type { TransitionOutcome } from '../observer.ts';
import { spawn, waitFor } from './background.ts';
import { type Ending, outcomeOf, type Settling, settledRecord } from './ending.ts';
import type { Kit } from './kit.ts';
import { tearDownLateCreate } from './late-creates.ts';
import { type Performed, perform } from './perform.ts';
import { timeoutOf, type WorkOrder } from './work-item.ts';

interface Work {
  readonly order: WorkOrder;
  readonly startedMs: number;
  readonly timeoutMs: number;
  readonly controller: AbortController;
  readonly ended: PromiseWithResolvers<void>;
  /** When the join had succeeded; the wait for Ready runs since then. */
  joinedMs: number | undefined;
}

class HostLost extends Error {}
class Stopped extends Error {}

export class Workers {
  readonly #kit: Kit;
  /** At most one per machine: the section admits no second transition. */
  readonly #active = new Map<string, Work>();

  constructor(kit: Kit) {
    this.#kit = kit;
  }

  get activeCount(): number {
    return this.#active.size;
  }

  /** Called in the machine's section, after the commit; the ack goes out before the work starts. */
  start(order: WorkOrder): void {
    const { machineId } = order;
    assert(!this.#active.has(machineId), 'one work item per machine', { machineId });
    const work: Work = {
      order,
      startedMs: this.#kit.runtime.clock.monotonicMs(),
      timeoutMs: timeoutOf(order.inputs, this.#kit.options.timeouts),
      controller: new AbortController(),
      ended: Promise.withResolvers(),
      joinedMs: undefined,
    };
    this.#active.set(machineId, work);
    spawn(() => this.#run(work));
  }

  /** Fails the transition under way on a host that is gone; resolves when that is recorded. */
  async loseHost(machineId: string, reason: string): Promise<void> {
    const work = this.#active.get(machineId);
    work?.controller.abort(new HostLost(reason));
    await work?.ended.promise;
  }

  async whenIdle(signal: AbortSignal): Promise<void> {
    while (this.#active.size > 0 && !signal.aborted) {
      await waitFor(this.#allEnded(), signal);
    }
  }

  /** Lets go of what still runs, without recording anything. Returns how many those were. */
  async stop(signal: AbortSignal): Promise<number> {
    const left = this.#active.size;
    for (const { controller } of this.#active.values()) {
      controller.abort(new Stopped('the provider stops'));
    }
    await waitFor(this.#allEnded(), signal);
    return left;
  }

  #allEnded(): Promise<unknown> {
    return Promise.all([...this.#active.values()].map((work) => work.ended.promise));
  }

  async #run(work: Work): Promise<void> {
    const { runtime } = this.#kit;
    await runtime.timers.turn();
    const deadline = withDeadline(runtime, work.timeoutMs, work.controller.signal);
    const performing = this.#perform(work, deadline.signal);
    const ending = await this.#ending(work, performing, deadline.signal);
    deadline.dispose();
    if (ending.kind === 'stopped') return this.#end(work);
    await this.#settle(work, ending);
    if (ending.kind === 'timeout' || ending.kind === 'host_lost') {
      spawn(() => this.#awaitLate(work, performing));
    }
  }

  async #perform(work: Work, signal: AbortSignal): Promise<Performed> {
    const { backend, gate, fleet, runtime, observer } = this.#kit;
    signal.throwIfAborted();
    const record = fleet.get(work.order.machineId);
    assert(record !== undefined, 'the machine of a work item exists');
    const performed = await perform({
      backend,
      gate,
      order: work.order,
      machine: detached(record),
      signal,
      onJoined: () => {
        work.joinedMs = runtime.clock.monotonicMs();
      },
    });
    if (work.joinedMs !== undefined) {
      observer.nodeReady?.(runtime.clock.monotonicMs() - work.joinedMs);
    }
    return performed;
  }

  async #ending(work: Work, performing: Promise<Performed>, signal: AbortSignal): Promise<Ending> {
    try {
      return { kind: 'done', performed: await orAborted(performing, signal) };
    } catch (error) {
      const reason: unknown = work.controller.signal.reason;
      if (reason instanceof Stopped) return { kind: 'stopped' };
      if (reason instanceof HostLost) return { kind: 'host_lost', reason: reason.message };
      if (!signal.aborted) return { kind: 'error', error };
      const phase = work.joinedMs === undefined ? 'work' : 'readiness';
      return { kind: 'timeout', afterMs: work.timeoutMs, phase };
    }
  }

  async #settle(work: Work, ending: Settling): Promise<void> {
    const { fleet, ledger, sections, health, logger } = this.#kit;
    const { machineId, operationId, inputs } = work.order;
    if (ending.kind === 'done') health.succeeded();
    if (ending.kind === 'error') health.failed(ending.error);
    await sections.run(machineId, async () => {
      const record = fleet.get(machineId);
      assert(record?.state === edges[inputs.kind].transitional, 'work outlived its transition', {
        machineId,
      });
      const settled = await ledger.keep(settledRecord(record, inputs, ending));
      this.#end(work);
      if (settled.state !== 'Failed') return;
      const fields = { machine_id: machineId, operation_id: operationId, err: settled.lastError };
      logger.warn('transition failed', { kind: inputs.kind, ...fields });
    });
    this.#observe(work, outcomeOf(ending));
  }

  /** The backend is still busy with something that no longer counts. */
  async #awaitLate(work: Work, performing: Promise<Performed>): Promise<void> {
    const { logger } = this.#kit;
    const fields = { machine_id: work.order.machineId, kind: work.order.inputs.kind };
    const performed = await performing.catch((error: unknown) => {
      logger.debug('cancelled work ended', { ...fields, err: describeThrown(error) });
    });
    if (performed === undefined) return;
    this.#observe(work, 'late_discarded');
    if (performed.kind !== 'create') return;
    await tearDownLateCreate(this.#kit, work.order, performed.instance);
  }

  #end(work: Work): void {
    this.#active.delete(work.order.machineId);
    work.ended.resolve();
  }

  #observe(work: Work, outcome: TransitionOutcome): void {
    const durationMs = this.#kit.runtime.clock.monotonicMs() - work.startedMs;
    this.#kit.observer.transition?.(work.order.inputs.kind, outcome, durationMs);
  }
}
