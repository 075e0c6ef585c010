// Feeds entries of a trace to one engine. What an engine cannot take (an unknown machine, a
// refused record, an assertion of its own) becomes a value: a replay of damaged or foreign input
// must end with a report, and a replay of a crash should show where it crashed.

import { describeThrown } from '@bigfleet/base';
import type { CycleOptions } from '../cycle/engine.ts';
import type { Shortfall } from '../model/cycle.ts';
import type { EngineBuild, EngineLike } from './engine-like.ts';
import type { TraceEntry } from './entry.ts';

/**
 * Which cycles evaluate everything: as it was recorded, none that need not, or all. The three
 * decide the same, or the engine is broken.
 */
export type ReplayMode = 'recorded' | 'incremental' | 'full';

export interface EngineFailure {
  readonly kind: 'engine_refused' | 'engine_threw';
  /** What was applied. */
  readonly entry: TraceEntry['kind'];
  readonly problem: string;
}

export class ReplayEngine {
  readonly engine: EngineLike;
  readonly #mode: ReplayMode;
  readonly #parkingAges = new Map<string, number>();
  readonly #shortfalls = new Map<string, Shortfall>();

  constructor(build: EngineBuild, mode: ReplayMode) {
    this.engine = build({
      hasRecords: false,
      ...(mode === 'incremental' ? { fullPassDirtyShare: 1 } : {}),
    });
    this.#mode = mode;
  }

  /** Applies one entry; a `cycle` is run, a `decided` is nothing to an engine. */
  apply(entry: TraceEntry): EngineFailure | undefined {
    try {
      const problem = this.#apply(entry);
      return problem === undefined
        ? undefined
        : { kind: 'engine_refused', entry: entry.kind, problem };
    } catch (thrown) {
      return { kind: 'engine_threw', entry: entry.kind, problem: describeThrown(thrown) };
    }
  }

  #apply(entry: TraceEntry): string | undefined {
    const { engine } = this;
    switch (entry.kind) {
      case 'put':
        return unless(engine.put(entry.machine, entry.nowMs), entry.machine.id);
      case 'remove':
        return unless(engine.remove(entry.id), entry.id);
      case 'move':
        return unless(engine.move(entry.id, entry.to, entry.changes, entry.nowMs), entry.id);
      case 'withhold':
        return unless(engine.withhold(entry.id, entry.reason), entry.id);
      case 'idle_since':
        return unless(engine.setIdleSince(entry.id, entry.sinceMs), entry.id);
      case 'rollup':
        return unless(engine.applyRollup(entry.cluster, entry.needs), entry.cluster);
      case 'reported':
        return done(engine.markReported(entry.cluster));
      case 'held_off':
        return done(engine.setHeldOff(entry.heldOff));
      case 'brakes':
        return done(engine.setBrakes(entry.brakes));
      case 'release_policy':
        return done(engine.setReleasePolicy(entry.policy));
      case 'cycle':
        return done(engine.cycle(this.#optionsOf(entry.options)));
      case 'decided':
        return undefined;
      case 'demand':
        return done(engine.loadDemand(entry.cluster, entry.needs));
      case 'parking':
        this.#parkingAges.set(entry.needKey, entry.ageCycles);
        return undefined;
      case 'shortfall':
        this.#shortfalls.set(entry.fingerprint, entry.shortfall);
        return undefined;
      case 'snapshot_end':
        return this.#endSnapshot(entry.machineCount, entry.rowCount);
    }
  }

  #optionsOf(options: CycleOptions): CycleOptions {
    if (this.#mode === 'recorded') return options;
    return { ...options, isFullPass: this.#mode === 'full' };
  }

  #endSnapshot(machineCount: number, rowCount: number): string | undefined {
    const { engine } = this;
    engine.restoreMemory({ parkingAges: this.#parkingAges, shortfalls: this.#shortfalls });
    const isWhole = engine.machineCount() === machineCount && engine.rowCount() === rowCount;
    return isWhole ? undefined : 'the snapshot holds another number of machines or rows';
  }
}

/** `id` of the machine or cluster. */
function unless(isApplied: boolean, id: string): string | undefined {
  return isApplied ? undefined : `does not apply to ${JSON.stringify(id)}`;
}

/** For inputs that always apply. */
function done(_result: void): undefined {
  return undefined;
}
