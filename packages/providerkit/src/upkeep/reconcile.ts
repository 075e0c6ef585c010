// Reconcile (provider-contract §16.3): describe again and bring the records up to date. Adds unknown ids,
// refreshes facts, confirms lost hosts; never touches state or binding otherwise. Each change is
// decided inside its machine's section against the record of that moment, because a describe may
// have taken long. One at a time; a tick that meets a running one is skipped.

import { BigFleetError } from '@bigfleet/base';
import type { LogMessage } from '@bigfleet/telemetry';
import type { Instance } from '../backend/backend.ts';
import { MapInterner } from '../fleet/map-interner.ts';
import { failed } from '../model/effects.ts';
import type { MachineRecord } from '../model/machine.ts';
import type { ReconcileReport } from '../provider.ts';
import { hostLostText } from '../work/ending.ts';
import type { Kit } from '../work/kit.ts';
import { describe, type Described, type InvalidInstance } from './describe.ts';
import { HostLossWatch } from './host-loss.ts';
import { inParallel, type ParallelOptions, slept, spawn } from '../work/background.ts';
import { refreshed, seeded } from './refresh.ts';

const PARALLEL_WRITES = 256;

/** A broken offering breaks all its slots; the first few say which. */
const MAX_WARNINGS = 20;

const invalidInstance: LogMessage<'machine_id' | 'problem'> = {
  level: 'warn',
  text: 'reconcile skipping invalid instance',
};

export class Reconciler {
  readonly #kit: Kit;
  readonly #interner = new MapInterner();
  readonly #hostLoss: HostLossWatch;
  readonly #parallel: ParallelOptions;
  #isRunning = false;

  constructor(kit: Kit) {
    this.#kit = kit;
    this.#hostLoss = new HostLossWatch(kit.fleet);
    this.#parallel = { limit: PARALLEL_WRITES, signal: kit.lifetime };
  }

  async run(): Promise<ReconcileReport> {
    if (this.#isRunning) return this.#report('skipped', {});
    this.#isRunning = true;
    try {
      return await this.#reconcile();
    } catch (error) {
      if (!(error instanceof BigFleetError)) throw error;
      if (!this.#kit.lifetime.aborted) this.#kit.logger.warn('reconcile failed', { err: error });
      return this.#report('error', {});
    } finally {
      this.#isRunning = false;
    }
  }

  async #reconcile(): Promise<ReconcileReport> {
    const described = await describe(this.#kit);
    this.#warn(described.invalid);
    const lost = this.#hostLoss.confirm(described);
    await inParallel(lost, this.#parallel, (record) => this.#loseHost(record));
    const counts = await this.#apply(described);
    if (this.#kit.options.retireAbsentSlots) await this.#retire(described);
    const invalidCount = described.invalid.length;
    return this.#report('success', { ...counts, invalidCount, lostCount: lost.length });
  }

  #warn(invalid: readonly InvalidInstance[]): void {
    const { logger } = this.#kit;
    for (const { id, problem } of invalid.slice(0, MAX_WARNINGS)) {
      logger.event(invalidInstance, { machine_id: id, problem });
    }
    if (invalid.length <= MAX_WARNINGS) return;
    logger.warn('reconcile skipped more invalid instances', {
      count: invalid.length - MAX_WARNINGS,
    });
  }

  async #apply(
    described: Described,
  ): Promise<{ readonly addedCount: number; readonly refreshedCount: number }> {
    let addedCount = 0;
    let refreshedCount = 0;
    await inParallel(this.#changed(described), this.#parallel, async (instance) => {
      const outcome = await this.#applyOne(instance);
      if (outcome === 'added') addedCount++;
      if (outcome === 'refreshed') refreshedCount++;
    });
    return { addedCount, refreshedCount };
  }

  /** Without a section: most instances of most ticks differ in nothing. */
  *#changed({ instances }: Described): Iterable<Instance> {
    for (const instance of instances.values()) {
      const record = this.#kit.fleet.get(instance.id);
      if (record === undefined || this.#next(record, instance) !== record) yield instance;
    }
  }

  #applyOne(instance: Instance): Promise<'added' | 'refreshed' | 'unchanged'> {
    const { fleet, ledger, sections } = this.#kit;
    return sections.run(instance.id, async () => {
      const record = fleet.get(instance.id);
      if (record === undefined) {
        await ledger.write({ record: this.seeded(instance) });
        return 'added';
      }
      const next = this.#next(record, instance);
      if (next === record) return 'unchanged';
      await ledger.write({ record: next });
      return 'refreshed';
    });
  }

  /** The record of an id that is not known yet. */
  seeded(instance: Instance): MachineRecord {
    return seeded(instance, this.#interner);
  }

  #next(record: MachineRecord, instance: Instance): MachineRecord {
    return refreshed(record, instance, this.#interner);
  }

  /** What an invalid instance is called still exists. */
  async #retire(described: Described): Promise<void> {
    const { fleet, ledger, sections } = this.#kit;
    const { instances, startedRevision } = described;
    const listed = new Set([...instances.keys(), ...described.invalid.map(({ id }) => id)]);
    const isAbsent = (record: MachineRecord | undefined): record is MachineRecord =>
      record?.state === 'Speculative' &&
      record.modifiedRevision <= startedRevision &&
      !listed.has(record.id);
    const absent = [...fleet.records()].filter(isAbsent);
    await inParallel(absent, this.#parallel, ({ id }) =>
      sections.run(id, async () => {
        if (isAbsent(fleet.get(id))) await ledger.remove(id);
      }),
    );
  }

  #loseHost({ id, host }: MachineRecord): Promise<void> {
    const { fleet, ledger, sections, observer, logger } = this.#kit;
    return sections.run(id, async () => {
      const record = fleet.get(id);
      const isWatched = record?.state === 'Idle' || record?.state === 'Configured';
      if (!isWatched || record.host?.ref !== host?.ref) return;
      const reason = 'the substrate no longer lists it';
      logger.warn('host lost', { machine_id: id, host_ref: host?.ref, reason });
      observer.hostLost?.();
      await ledger.keep(failed(record, hostLostText(reason)));
    });
  }

  #report(
    outcome: ReconcileReport['outcome'],
    counts: Partial<Omit<ReconcileReport, 'outcome'>>,
  ): ReconcileReport {
    this.#kit.observer.reconcile?.(outcome);
    const none = { addedCount: 0, refreshedCount: 0, invalidCount: 0, lostCount: 0 };
    return { outcome, ...none, ...counts };
  }
}

/** The next tick is armed when the last one ended, so that a slow substrate never has two at once. */
export function startReconcileLoop(kit: Kit, reconciler: Reconciler): void {
  const { runtime, options, lifetime } = kit;
  const intervalMs = options.reconcileIntervalMs;
  if (intervalMs === 0) return;
  spawn(async () => {
    while (await slept(runtime, intervalMs, lifetime)) await reconciler.run();
  });
}
