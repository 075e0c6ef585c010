// The engine's side of the host: applies inputs in order, decodes and guards roll-ups, decides,
// and turns a decided cycle into an answer. It runs inline or in the worker; it knows neither.
//
// Every input goes through the recorder, so that a trace replays to the same actions. The recorder
// changes no decision; without a trace it costs a hash per decided action.

import { assert } from '@bigfleet/base';
import {
  type CycleOptions,
  emptyState,
  Engine,
  type EngineOptions,
  type EnginePhase,
  type Need,
  RecordedEngine,
  RollupGuard,
  type TraceEntry,
} from '@bigfleet/engine';
import { readAnswer } from './read-answer.ts';
import type { CycleAnswer, RollupVerdict } from './answer.ts';
import { DemandListing } from '../rollup/demand-listing.ts';
import type { RollupOrder } from './engine-host.ts';
import { type NeedChanges, NeedJournal } from './need-journal.ts';
import { NeedVerdicts, type VerdictPage, type VerdictQuery } from './need-verdicts.ts';
import { PhaseStopwatch } from './phase-stopwatch.ts';
import { DemandedNames } from '../rollup/resource-names.ts';
import { RollupRows } from '../rollup/rows.ts';
import { sharedParts } from '../rollup/shared-parts.ts';
import { TraceParts } from './trace-parts.ts';

/** Plain data: it crosses to the worker. */
export interface DeciderOptions extends Omit<EngineOptions, 'onPhaseEnd'> {
  /** Record the inputs of the run; the bytes leave with each answer. Off unless told otherwise. */
  readonly hasTrace?: boolean;
}

const tooManyNames: RollupVerdict = {
  kind: 'rejected',
  code: 'too_large',
  detail: 'more new resource names than a cluster may bring, or than the shard has room for',
};

export class Decider {
  readonly #recorded: RecordedEngine;
  /** To read from; nothing is fed to it but through the recorder. */
  readonly #engine: Engine;
  readonly #trace: TraceParts = new TraceParts();
  readonly #guard: RollupGuard = new RollupGuard();
  readonly #stopwatch: PhaseStopwatch;
  readonly #rowCounts = new Map<string, number>();
  readonly #listing: DemandListing = new DemandListing();
  readonly #names: DemandedNames;
  readonly #rows: RollupRows = new RollupRows(
    sharedParts((fingerprint) => this.#listing.profileOf(fingerprint)),
  );
  readonly #verdicts: NeedVerdicts;
  readonly #needs: NeedJournal;

  constructor(monotonicMs: () => number, { hasTrace = false, ...engine }: DeciderOptions = {}) {
    this.#stopwatch = new PhaseStopwatch(monotonicMs);
    const onPhaseEnd = (phase: EnginePhase): void => this.#stopwatch.phaseEnded(phase);
    this.#recorded = new RecordedEngine(emptyState, this.#trace.begin(), {
      engine: { ...engine, onPhaseEnd },
    });
    if (!hasTrace) this.#endTrace();
    const { view } = this.#recorded;
    assert(view instanceof Engine, 'a recorded engine shows its engine');
    this.#engine = view;
    this.#names = new DemandedNames(view.inventory.dimensions);
    this.#verdicts = new NeedVerdicts(this.#engine);
    this.#needs = new NeedJournal(this.#verdicts);
  }

  /** An input that main already took; a refusal here means that the two sides have parted. */
  apply(entry: TraceEntry): void {
    const { inventory } = this.#recorded;
    switch (entry.kind) {
      case 'put': {
        const put = inventory.put(entry.machine, entry.nowMs);
        assert(put.ok, 'the engine refused a machine that the fleet took', {
          id: entry.machine.id,
        });
        return;
      }
      case 'remove':
        assert(inventory.remove(entry.id), 'the engine does not know a machine', { id: entry.id });
        return;
      case 'move':
        return inventory.move(this.#slotOf(entry.id), entry.to, entry.changes, entry.nowMs);
      case 'withhold':
        return inventory.withhold(this.#slotOf(entry.id), entry.reason);
      case 'reported':
        return this.#unchanged(entry.cluster);
      case 'held_off':
        return this.#recorded.setHeldOff(entry.heldOff);
      case 'brakes':
        return this.#recorded.setBrakes(entry.brakes);
      case 'release_policy':
        this.#recorded.releasePolicy = entry.policy;
        return;
      default:
        assert(false, 'an input that the shard never sends', { kind: entry.kind });
    }
  }

  applyRollup({ cluster, bytes, isGuarded }: RollupOrder): RollupVerdict {
    let decoded: ReturnType<RollupRows['decode']>;
    try {
      decoded = this.#rows.decode(cluster, bytes);
    } catch (thrown) {
      // A frame that no decoder reads: the message never holds demand, so it may be shown.
      const detail = thrown instanceof Error ? thrown.message : 'not a roll-up';
      return { kind: 'rejected', code: 'malformed', detail };
    }
    if (!decoded.ok) {
      const { code, row, field, detail } = decoded.error;
      return { kind: 'rejected', code, detail: `needs[${row}].${field}: ${detail}` };
    }
    // Before the guard, whose baseline is the last roll-up that was taken.
    const addedNames = this.#names.room(cluster, decoded.value);
    if (addedNames === undefined) return tooManyNames;
    const rows = decoded.value.length;
    const previousRows = this.#rowCounts.get(cluster) ?? 0;
    // Unguarded: whatever comes is the new baseline, or switching the rail on later would hold it.
    if (!isGuarded) this.#guard.forget(cluster);
    const verdict = this.#guard.check(cluster, rows);
    if (verdict.kind === 'held') {
      this.#recorded.markReported(cluster);
      return { kind: 'held', rows, previousRows, consecutive: verdict.consecutive };
    }
    const applied = this.#recorded.applyRollup(cluster, decoded.value);
    assert(applied.ok, 'the engine refused names that there was room for', { cluster });
    this.#names.taken(cluster, addedNames);
    this.#rowCounts.set(cluster, rows);
    const demand = this.#listing.replace(cluster, this.#needsOf(cluster));
    return { kind: 'applied', rows, previousRows, confirmedAfter: verdict.confirmedAfter, demand };
  }

  /** As they stand in the table, where rows of one key are one. */
  #needsOf(cluster: string): readonly Need[] {
    const { inventory, needs } = this.#engine;
    return needs.rowsOf(inventory.clusterIndex(cluster)).map(({ need }) => need);
  }

  /** The accepted roll-up was repeated: a streak of suspicious ones is over. */
  #unchanged(cluster: string): void {
    this.#recorded.markReported(cluster);
    const rows = this.#rowCounts.get(cluster);
    if (rows !== undefined) this.#guard.check(cluster, rows);
  }

  forgetCluster(cluster: string): void {
    this.#guard.forget(cluster);
    this.#rowCounts.delete(cluster);
    this.#rows.forget(cluster);
    this.#listing.replace(cluster, []);
    this.#recorded.applyRollup(cluster, []);
  }

  cycle(options: CycleOptions): CycleAnswer {
    this.#stopwatch.start();
    this.#recorded.cycle(options);
    this.#recorded.flush();
    const { lastHash } = this.#recorded;
    assert(lastHash !== undefined, 'a cycle that decided has a hash');
    return readAnswer(this.#engine, {
      actionHash: lastHash,
      trace: this.#trace.take(),
      tookMs: this.#stopwatch.take(),
    });
  }

  /** Another trace from here on, with the state as it is now. */
  rotateTrace(): void {
    this.#recorded.rotate(this.#trace.begin());
  }

  verdicts(query: VerdictQuery): VerdictPage {
    return this.#verdicts.page(query);
  }

  needChanges(isFresh: boolean): NeedChanges {
    return this.#needs.next(isFresh);
  }

  priorities(machineIds: readonly string[]): readonly number[] {
    const { inventory } = this.#engine;
    return machineIds.map((id) => {
      const slot = inventory.slotOf(id);
      return slot < 0 ? Number.POSITIVE_INFINITY : inventory.columns.effectivePriority[slot]!;
    });
  }

  #endTrace(): void {
    this.#recorded.close();
    this.#trace.take();
  }

  #slotOf(id: string): number {
    const slot = this.#engine.inventory.slotOf(id);
    assert(slot >= 0, 'the engine does not know a machine', { id });
    return slot;
  }
}
