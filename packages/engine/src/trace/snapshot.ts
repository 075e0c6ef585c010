// The state of an engine as the entries that rebuild it: what a trace starts with. An engine
// rebuilt from them decides the same as the one they were taken from, because everything else
// that an engine holds is derived (that incremental equals full is the law). Sorted, so that a
// snapshot depends on the state and not on its history, and neighbours share their bytes.

import { compareText } from '@bigfleet/base';
import type { Engine } from '../cycle/engine.ts';
import type { Brakes } from '../model/brakes.ts';
import { State } from '../model/state.ts';
import type { TraceEntry } from './entry.ts';

/** `heldOff` and `brakes` are what was set last: the engine does not tell. */
export function* snapshotEntries(
  engine: Engine,
  heldOff: ReadonlySet<string>,
  brakes: Brakes,
): Generator<TraceEntry, void> {
  const { inventory, needs } = engine;
  yield { kind: 'release_policy', policy: engine.releasePolicy };
  for (const slot of slotsById(engine)) {
    const machine = inventory.read(slot);
    // An idle machine that is new is idle from the time of its put: the stamp is that time.
    const nowMs = machine.state === State.Idle ? (inventory.columns.idleSinceMs[slot] ?? 0) : 0;
    yield { kind: 'put', machine, nowMs };
  }
  const text = (cluster: number): string => inventory.clusters.text(cluster);
  for (const cluster of [...needs.clusters()].sort((a, b) => compareText(text(a), text(b)))) {
    const rows = needs.rowsOf(cluster).map(({ need }) => need);
    yield { kind: 'demand', cluster: text(cluster), needs: rows };
  }
  for (const cluster of [...engine.reportedClusters()].sort(compareText)) {
    yield { kind: 'reported', cluster };
  }
  if (heldOff.size > 0) yield { kind: 'held_off', heldOff };
  if (brakes.needs.size + brakes.types.size > 0) yield { kind: 'brakes', brakes };
  yield* memoryEntries(engine);
  yield { kind: 'snapshot_end', machineCount: inventory.size, rowCount: needs.rowCount };
}

function* memoryEntries({ parking, shortfalls }: Engine): Generator<TraceEntry, void> {
  const ages = [...parking.ages].sort(([a], [b]) => compareText(a, b));
  for (const [needKey, ageCycles] of ages) yield { kind: 'parking', needKey, ageCycles };
  const entries = [...shortfalls.entries].sort(([a], [b]) => compareText(a, b));
  for (const [fingerprint, shortfall] of entries)
    yield { kind: 'shortfall', fingerprint, shortfall };
}

function slotsById({ inventory }: Engine): Uint32Array {
  const { columns } = inventory;
  const slots = new Uint32Array(inventory.size);
  let count = 0;
  for (let slot = 0; slot < inventory.slotCount; slot++) {
    if (columns.state[slot] !== State.Unspecified) slots[count++] = slot;
  }
  return slots.sort((a, b) => columns.rank[a]! - columns.rank[b]!);
}
