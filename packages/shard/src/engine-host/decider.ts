// The engine's side of the host: applies inputs in order, has roll-ups admitted, decides, and turns a
// decided cycle into an answer. It runs inline or in the worker and cannot tell which.
//
// Every input goes through the recorder, so that a trace replays to the same actions. The recorder
// changes no decision; without a trace it costs a hash per decided action.

import { assert } from '@bigfleet/base';
import {
  type CycleOptions,
  type Engine,
  type EngineOptions,
  type EnginePhase,
  RecordedEngine,
  type TraceEntry,
  emptyState,
} from '@bigfleet/engine';
import { type CycleAnswer, readAnswer } from './answer.ts';
import { RollupAdmission } from '../rollup/admission.ts';
import { type NeedChanges, NeedJournal } from './need-journal.ts';
import { NeedVerdicts, type VerdictPage, type VerdictQuery } from './need-verdicts.ts';
import { PhaseStopwatch } from './phase-stopwatch.ts';
import { TraceParts } from './trace-parts.ts';

/** Plain data: it crosses to the worker. */
export interface DeciderOptions extends Omit<EngineOptions, 'onPhaseEnd'> {
  /** Record the inputs of the run; the bytes leave with each answer. Off unless told otherwise. */
  readonly hasTrace?: boolean;
}

export class Decider {
  readonly rollups: RollupAdmission;
  readonly #recorded: RecordedEngine;
  /** To read from; nothing is fed to it but through the recorder. */
  readonly #engine: Engine;
  readonly #trace: TraceParts = new TraceParts();
  readonly #stopwatch: PhaseStopwatch;
  readonly #verdicts: NeedVerdicts;
  readonly #needs: NeedJournal;

  constructor(monotonicMs: () => number, { hasTrace = false, ...engine }: DeciderOptions = {}) {
    this.#stopwatch = new PhaseStopwatch(monotonicMs);
    const onPhaseEnd = (phase: EnginePhase): void => this.#stopwatch.phaseEnded(phase);
    this.#recorded = new RecordedEngine(emptyState, this.#trace.begin(), {
      engine: { ...engine, onPhaseEnd },
    });
    if (!hasTrace) this.#endTrace();
    this.#engine = this.#recorded.view;
    this.rollups = new RollupAdmission(this.#recorded, this.#engine);
    this.#verdicts = new NeedVerdicts(this.#engine);
    this.#needs = new NeedJournal(this.#engine);
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
        return this.rollups.unchanged(entry.cluster);
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
