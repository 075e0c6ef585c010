// The engine as a shard runs it: kept from cycle to cycle and told what changed, with its record and the
// hash of its actions. As a decider it equals the engine from nothing, byte for byte: a cycle whose memory
// is not the one that it gave back itself begins another world, and the engine is loaded anew.

import { assert } from '@bigfleet/base';
import {
  type ActionHash,
  type CycleInput,
  type CycleMemory,
  type CycleOutput,
  type Machine,
  RecordedEngine,
  State,
  type TraceSink,
} from '@bigfleet/engine';
import type { Decide } from './step.ts';

export interface IncrementalEngineOptions {
  /** Where the inputs of a world are written to, when it begins; without it nothing is traced. */
  readonly openTrace?: () => TraceSink;
}

const nowhere: TraceSink = () => undefined;

export class IncrementalEngine {
  readonly #options: IncrementalEngineOptions;
  #engine: RecordedEngine | undefined;
  #memory: CycleMemory | undefined;
  readonly #machines = new Map<string, Machine>();
  #clusters: ReadonlySet<string> = new Set();

  constructor(options: IncrementalEngineOptions = {}) {
    this.#options = options;
  }

  readonly decide: Decide = (input) => {
    const known = this.#engine;
    const engine =
      known !== undefined && input.memory === this.#memory
        ? this.#continue(known, input)
        : this.#begin(input);
    engine.cycle({ nowMs: input.nowMs, quotaRemaining: input.quotaRemaining });
    const output: CycleOutput = engine.readCycle();
    this.#memory = output.memory;
    return output;
  };

  /** Of the last cycle; valid until the next. */
  get record(): Uint8Array {
    return this.#current.view.record;
  }

  get actionHash(): ActionHash {
    const { lastHash } = this.#current;
    assert(lastHash !== undefined, 'no cycle has been decided');
    return lastHash;
  }

  /** Hands over what is gathered of the trace. */
  flush(): void {
    this.#current.flush();
  }

  get #current(): RecordedEngine {
    assert(this.#engine !== undefined, 'no cycle has been decided');
    return this.#engine;
  }

  #begin(input: CycleInput): RecordedEngine {
    const { openTrace } = this.#options;
    const engine = new RecordedEngine(input, openTrace?.() ?? nowhere);
    if (openTrace === undefined) engine.close();
    this.#machines.clear();
    for (const machine of input.machines) this.#machines.set(machine.id, machine);
    this.#clusters = new Set(input.needs.map(({ cluster }) => cluster));
    this.#engine = engine;
    return engine;
  }

  #continue(engine: RecordedEngine, input: CycleInput): RecordedEngine {
    this.#tellMachines(engine, input);
    const byCluster = Map.groupBy(input.needs, ({ cluster }) => cluster);
    for (const cluster of new Set([...this.#clusters, ...input.reportedClusters])) {
      const applied = engine.applyRollup(cluster, byCluster.get(cluster) ?? []);
      assert(applied.ok, 'a simulated roll-up is refused', { cluster });
    }
    this.#clusters = new Set(byCluster.keys());
    engine.setHeldOff(input.heldOff);
    engine.setBrakes(input.brakes);
    const { onDemandHoldMs, spotHoldMs } = engine.releasePolicy;
    const policy = input.releasePolicy;
    if (policy.onDemandHoldMs !== onDemandHoldMs || policy.spotHoldMs !== spotHoldMs) {
      engine.releasePolicy = policy;
    }
    return engine;
  }

  /** A provider hands out the same record while nothing about it changes. */
  #tellMachines({ inventory }: RecordedEngine, input: CycleInput): void {
    const gone = new Set(this.#machines.keys());
    for (const machine of input.machines) {
      gone.delete(machine.id);
      if (this.#machines.get(machine.id) === machine) continue;
      this.#machines.set(machine.id, machine);
      const put = inventory.put(machine, input.nowMs);
      assert(put.ok, 'the input holds a machine that breaks its invariants', { id: machine.id });
      if (machine.state !== State.Idle) continue;
      inventory.setIdleSince(put.value, input.idleSinceMs.get(machine.id) ?? input.nowMs);
    }
    for (const id of gone) {
      this.#machines.delete(id);
      inventory.remove(id);
    }
  }
}
