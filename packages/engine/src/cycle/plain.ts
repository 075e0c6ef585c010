// The engine as a function over plain values, like the oracle: for differential tests, the
// simulator and tools. Also the conversion of a decided cycle into plain values.

import { assert } from '@bigfleet/base';
import {
  type Action,
  ActionKind,
  type ActionKindCode,
  isAcquisition,
  reasonOf,
} from '../model/action.ts';
import { add, noResources, type Resources } from '../model/resources.ts';
import { State } from '../model/state.ts';
import type { Row } from '../needs/row.ts';
import { CELL, CLAIM, SLOT } from '../store/cluster-supply.ts';
import { Engine, type EngineOptions } from './engine.ts';
import { matchingSupply, reasonCode, unmetReason } from './reasons.ts';
import type { CycleInput, CycleMemory, CycleOutput, Verdict } from '../model/cycle.ts';

/** One cycle from nothing. */
export function engineCycle(input: CycleInput): CycleOutput {
  const engine = loadEngine(input);
  engine.cycle({ nowMs: input.nowMs, quotaRemaining: input.quotaRemaining });
  return readCycle(engine);
}

export function loadEngine(input: CycleInput, options: EngineOptions = {}): Engine {
  const engine = new Engine(options);
  engine.releasePolicy = input.releasePolicy;
  for (const machine of input.machines) {
    const put = engine.inventory.put(machine, input.nowMs);
    assert(put.ok, 'the input holds a machine that breaks its invariants', { id: machine.id });
    if (machine.state !== State.Idle) continue;
    // Without a stamp the machine counts as idle from now: held longer, never shorter.
    engine.inventory.setIdleSince(put.value, input.idleSinceMs.get(machine.id) ?? input.nowMs);
  }
  const byCluster = Map.groupBy(input.needs, (need) => need.cluster);
  for (const [cluster, needs] of byCluster) {
    engine.needs.replace(engine.inventory.clusterIndex(cluster), needs);
  }
  for (const cluster of input.reportedClusters) engine.markReported(cluster);
  engine.setHeldOff(input.heldOff);
  engine.setBrakes(input.brakes);
  restoreMemory(engine, input.memory);
  return engine;
}

export function restoreMemory(engine: Engine, { parkingAges, shortfalls }: CycleMemory): void {
  engine.parking.restore(parkingAges, (key) =>
    engine.inventory.clusterIndex(key.slice(0, Math.max(0, key.indexOf('\u0000')))),
  );
  engine.shortfalls.restore(shortfalls);
}

/** What the last cycle decided, as plain values. */
export function readCycle(engine: Engine): CycleOutput {
  const rows = engine.normalisedRows();
  const indexes = new Map(rows.map((row, index) => [row, index]));
  return {
    actions: readActions(engine),
    verdicts: rows.map((row) => readVerdict(engine, row)),
    claims: readClaims(engine, indexes),
    memory: { parkingAges: engine.parking.ages, shortfalls: engine.shortfalls.entries },
  };
}

/** What the last cycle found about every need, in normalised order. */
export function readVerdicts(engine: Engine): Verdict[] {
  return engine.normalisedRows().map((row) => readVerdict(engine, row));
}

export function readActions({ actions, inventory }: Engine): Action[] {
  const list: Action[] = [];
  for (let at = 0; at < actions.length; at++) {
    const kind = actions.kind[at] as ActionKindCode;
    const row = actions.row[at];
    const serves = isAcquisition(kind);
    const cluster = actions.cluster[at]!;
    list.push({
      kind,
      machineId: inventory.ids[actions.slot[at]!]!,
      cluster: cluster < 0 ? '' : inventory.clusters.text(cluster),
      fingerprint: serves ? (row?.need.profile.fingerprint ?? '') : '',
      group: serves ? (row?.need.group ?? '') : '',
      graceSeconds: actions.graceSeconds[at]!,
      preemptorPriority: actions.preemptorPriority[at]!,
      reason: reasonOf(kind),
    });
  }
  return list;
}

const noSupply = { cells: new Int32Array(0), end: 0 };

function readClaims(engine: Engine, indexes: ReadonlyMap<Row, number>): Map<string, number> {
  const { clusters, ids } = engine.inventory;
  const claims = new Map<string, number>();
  for (let cluster = 0; cluster < clusters.size; cluster++) {
    const { cells, end } = engine.inventory.supplyOf(cluster) ?? noSupply;
    const rows = engine.claimants(cluster);
    for (let at = 0; at < end; at += CELL) {
      const claim = cells[at + CLAIM]!;
      if (claim === 0) continue;
      const row = rows[claim - 1];
      assert(row !== undefined, 'a claim names a need of its cluster', { cluster, claim });
      claims.set(ids[cells[at + SLOT]!]!, indexes.get(row) as number);
    }
  }
  const { actions } = engine;
  for (let at = 0; at < actions.length; at++) {
    if (!isAcquisition(actions.kind[at]!)) continue;
    const row = actions.row[at]!;
    claims.set(ids[actions.slot[at]!]!, indexes.get(row) as number);
  }
  return claims;
}

/** What the last cycle found about one need. */
export function readVerdict(engine: Engine, row: Row): Verdict {
  const { result } = row;
  const satisfied = result.isSatisfied;
  const isResolved = !satisfied && engine.residueOf(row).size === 0;
  return {
    need: row.need,
    satisfied,
    deficit: satisfied ? noResources : engine.readVector(result.deficit),
    claimedCount: result.creditedCount + result.bootstrapCount + result.provisionCount,
    bootstrapCount: result.bootstrapCount,
    provisionCount: result.provisionCount,
    sameDomain: result.domain,
    sameSatisfiable: result.isSatisfiable,
    parked: result.isParked,
    parkedAgeCycles: engine.parking.ageBefore(row),
    matchingSupply: satisfied ? undefined : matchingSupply(engine.inventory, row),
    sameCandidates: satisfied ? [] : result.sameCandidates,
    awaitingDrainCount: satisfied ? 0 : result.awaitingDrainCount,
    victimCount: satisfied ? 0 : result.victimCount,
    freed: freedFor(engine, row),
    unmetReason: unmetReason(engine.inventory, row, isResolved),
    reasonCode: reasonCode(engine.inventory, row, isResolved),
  };
}

function freedFor({ actions, inventory }: Engine, row: Row): Resources {
  if (row.result.victimCount === 0) return noResources;
  let freed: Resources = noResources;
  for (let at = 0; at < actions.length; at++) {
    if (actions.kind[at] !== ActionKind.Preempt || actions.row[at] !== row) continue;
    const klass = inventory.columns.klass[actions.slot[at]!]!;
    freed = add(freed, inventory.classes.allocatable.read(klass));
  }
  return freed;
}
