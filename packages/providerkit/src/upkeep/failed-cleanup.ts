// The ways out of Failed (provider-contract §10, decision 5): by itself after a delay, or at once by an
// administrator. Both read the substrate, clean it, and settle the record as an empty slot or a
// wiped Idle host. Without them a provider collects dead slots until someone edits its state file.
//
// The delay is the same for all, so the waiting line is in order of due time: one timer, and a
// machine that fails again goes to the end. A cleanup that fails waits the same delay again.

import { BigFleetError, describeThrown, type Timer } from '@bigfleet/base';
import { settled } from '../model/effects.ts';
import type { MachineRecord } from '../model/machine.ts';
import type { ResetOutcome } from '../provider.ts';
import { inParallel, spawn } from '../work/background.ts';
import type { Kit } from '../work/kit.ts';
import { cleanUp } from './clean-up.ts';
import { describe, type Described } from './describe.ts';

const PARALLEL_CLEANUPS = 8;

export class FailedCleanup {
  readonly #kit: Kit;
  /** Machine id → when it is due; insertion order is due order. Only Failed machines. */
  readonly #due = new Map<string, number>();
  #timer: Timer | undefined;

  constructor(kit: Kit) {
    this.#kit = kit;
  }

  /** Follows each change of a record. */
  observe(record: MachineRecord, before: MachineRecord | undefined): void {
    if (record.state !== 'Failed') this.#due.delete(record.id);
    else if (before?.state !== 'Failed') this.#wait(record.id);
  }

  /** At once. Rejects when the machine is unknown or not Failed, or the substrate refuses. */
  async reset(machineId: string): Promise<ResetOutcome> {
    if (this.#kit.lifetime.aborted || this.#kit.ready.isStopping) {
      throw new BigFleetError('provider_stopping', 'the provider is stopping');
    }
    refuseUnlessFailed(this.#kit.fleet.get(machineId));
    const described = await describe(this.#kit);
    return await this.#clean(machineId, described);
  }

  #wait(machineId: string): void {
    const { options, runtime, lifetime } = this.#kit;
    if (options.failedCleanupAfterMs === 0 || lifetime.aborted) return;
    this.#due.delete(machineId);
    this.#due.set(machineId, runtime.clock.monotonicMs() + options.failedCleanupAfterMs);
    this.#arm();
  }

  #arm(): void {
    const { runtime, lifetime } = this.#kit;
    const [first] = this.#due.values();
    if (first === undefined || this.#timer !== undefined) return;
    const stop = (): void => this.#timer?.cancel();
    this.#timer = runtime.timers.after(first - runtime.clock.monotonicMs(), () => {
      this.#timer = undefined;
      lifetime.removeEventListener('abort', stop);
      spawn(() => this.#cleanDue());
    });
    lifetime.addEventListener('abort', stop, { once: true });
  }

  async #cleanDue(): Promise<void> {
    const nowMs = this.#kit.runtime.clock.monotonicMs();
    const due = [...this.#due].filter(([, dueMs]) => dueMs <= nowMs).map(([id]) => id);
    for (const id of due) this.#due.delete(id);
    if (due.length > 0) await this.#cleanAll(due);
    this.#arm();
  }

  /** One describe serves the whole batch. */
  async #cleanAll(machineIds: readonly string[]): Promise<void> {
    try {
      const described = await describe(this.#kit);
      const bounds = { limit: PARALLEL_CLEANUPS, signal: this.#kit.lifetime };
      await inParallel(machineIds, bounds, async (id) => {
        await this.#clean(id, described).catch((error: unknown) => this.#tryLater(id, error));
      });
    } catch (error) {
      for (const id of machineIds) this.#tryLater(id, error);
    }
  }

  #tryLater(machineId: string, error: unknown): void {
    if (!(error instanceof BigFleetError)) throw error;
    const { logger, lifetime, fleet } = this.#kit;
    if (lifetime.aborted || fleet.get(machineId)?.state !== 'Failed') return;
    logger.warn('cleanup of a failed machine failed', { machine_id: machineId, err: error });
    this.#wait(machineId);
  }

  async #clean(machineId: string, described: Described): Promise<ResetOutcome> {
    const { cleaning, observer } = this.#kit;
    if (cleaning.has(machineId)) {
      throw new BigFleetError('cleanup_failed', 'a cleanup of this machine is under way');
    }
    cleaning.add(machineId);
    try {
      const outcome = await this.#cleanEntered(machineId, described);
      observer.failedCleanup?.('success');
      return outcome;
    } catch (error) {
      observer.failedCleanup?.('error');
      throw error;
    } finally {
      cleaning.delete(machineId);
    }
  }

  async #cleanEntered(machineId: string, described: Described): Promise<ResetOutcome> {
    const { fleet, ledger, sections, logger, health } = this.#kit;
    const failed = refuseUnlessFailed(fleet.get(machineId));
    const { host, cleaned } = await cleanUp(this.#kit, failed, described).catch(
      (cause: unknown) => {
        health.failed(cause);
        throw new BigFleetError('cleanup_failed', describeThrown(cause), { cause });
      },
    );
    return await sections.run(machineId, async () => {
      const record = refuseUnlessFailed(fleet.get(machineId));
      const machine = await ledger.write({ record: settled(record, host) });
      logger.info('failed machine settled', {
        machine_id: machineId,
        state: machine.state,
        was: record.lastError,
      });
      return { machine, cleaned };
    });
  }
}

function refuseUnlessFailed(record: MachineRecord | undefined): MachineRecord {
  if (record === undefined) throw new BigFleetError('machine_unknown', 'no machine has this id');
  if (record.state === 'Failed') return record;
  throw new BigFleetError('machine_not_failed', `the machine is ${record.state}, not Failed`);
}
