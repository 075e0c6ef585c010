// The properties of engine §12 that one cycle's input and output can show: 1 to 8, 13, 14 and 16. They
// hold for whoever computed the output, so the oracle and the engine are both judged by them.

import assert from 'node:assert/strict';
import { compareText, PINNED_BUCKET } from '@bigfleet/base';
import { type CycleInput, type CycleOutput, heldOffKey, type Verdict } from '../model/cycle.ts';
import { type Action, ActionKind, drainGraceSeconds, startStateOf } from '../model/action.ts';
import { holdMs } from '../model/capacity-type.ts';
import type { Machine } from '../model/machine.ts';
import { add, contributes, covers, isZero, noResources, subtract } from '../model/resources.ts';
import { State } from '../model/state.ts';
import { checkAcquisition } from './acquisition-replay.ts';
import * as facts from './facts.ts';

interface Case {
  readonly input: CycleInput;
  readonly output: CycleOutput;
  readonly byId: ReadonlyMap<string, Machine>;
}

/** Throws an AssertionError that names the property. */
export function checkInvariants(input: CycleInput, output: CycleOutput): void {
  const byId = new Map(input.machines.map((machine) => [machine.id, machine]));
  const all: Case = { input, output, byId };
  checkActions(all);
  output.verdicts.forEach((verdict, index) => checkVerdict(all, verdict, index));
  checkAcquisition(input, output);
  checkPreemptions(all);
  checkReclaims(all);
  checkReleases(all);
}

const phases: readonly number[] = [0, 1, 1, 3, 2, 4];

/** Property 1, the order of phases, and that acquisitions are exactly the claims on the pools. */
function checkActions({ input, output, byId }: Case): void {
  const seen = new Set<string>();
  let phase = 0;
  for (const action of output.actions) {
    const machine = byId.get(action.machineId);
    assert.ok(machine !== undefined, `property 1: ${action.machineId} is unknown`);
    assert.ok(!seen.has(action.machineId), `property 1: two actions for ${action.machineId}`);
    seen.add(action.machineId);
    assert.equal(machine.state, startStateOf(action.kind), `property 1: ${machine.id} start state`);
    assert.equal(machine.withheld, undefined, `${machine.id} is withheld`);
    assert.ok((phases[action.kind] ?? 0) >= phase, 'actions out of phase order');
    phase = phases[action.kind] ?? 0;
    if (action.kind > ActionKind.Provision) continue;
    const need = output.verdicts[output.claims.get(action.machineId) ?? -1]?.need;
    assert.deepEqual(
      [action.cluster, action.fingerprint, action.group],
      [need?.cluster, need?.profile.fingerprint, need?.group],
    );
    if (need?.profile.interruptionBucket === PINNED_BUCKET) {
      assert.equal(machine.interruptionProbability, 0, `property 16: ${machine.id}`);
    }
  }
  for (const machine of input.machines) {
    if (!facts.isPooled(machine) || !output.claims.has(machine.id)) continue;
    assert.ok(seen.has(machine.id), `${machine.id} is claimed from a pool without an action`);
  }
}

function claimedBy({ output, byId }: Case, index: number): Machine[] {
  return [...output.claims]
    .filter(([, claimant]) => claimant === index)
    .map(([id]) => {
      const machine = byId.get(id);
      assert.ok(machine !== undefined, `${id} is claimed but unknown`);
      return machine;
    });
}

/** Properties 2, 3, 4 (crediting) and 8 (one value), and the counts. */
function checkVerdict(all: Case, verdict: Verdict, index: number): void {
  const { need } = verdict;
  const claimed = claimedBy(all, index);
  for (const machine of claimed) {
    assert.ok(facts.fits(machine, need), `property 2: ${machine.id} does not fit`);
    assert.ok(
      facts.isFinite(machine, need) || facts.servesAlready(machine, need),
      `property 2: ${machine.id} may not serve`,
    );
    assert.ok(
      facts.isBoundTo(machine, need.cluster) ||
        facts.isOwnCreating(machine, need) ||
        facts.isPooled(machine),
      `property 2: ${machine.id} is not this need's to claim`,
    );
  }
  const total = claimed.map(({ allocatable }) => allocatable).reduce(add, noResources);
  assert.equal(verdict.satisfied, covers(total, need.aggregate), 'property 3: satisfied');
  assert.equal(verdict.satisfied, isZero(verdict.deficit), 'property 3: deficit');
  checkLastClaim(all, verdict, claimed);
  checkCounts(verdict, claimed);
  checkSupplyIsCredited(all, verdict);
  if (need.profile.same === undefined) return;
  const values = new Set(claimed.map((machine) => facts.sameValue(machine, need)));
  assert.ok(values.size <= 1, `property 8: values ${[...values].join()}`);
  if (verdict.sameDomain !== undefined && values.size === 1) {
    assert.ok(values.has(verdict.sameDomain), 'property 8: outside the recorded domain');
  }
}

/** Stop when covered: without the machine that was claimed last, the need is not covered. */
function checkLastClaim({ output }: Case, verdict: Verdict, claimed: readonly Machine[]): void {
  if (!verdict.satisfied || claimed.length === 0) return;
  const { need } = verdict;
  const emitted = output.actions.map(({ machineId }) => machineId);
  const isOwn = ({ assigned }: Machine): boolean =>
    need.profile.same !== undefined &&
    assigned.needFingerprint === need.profile.fingerprint &&
    assigned.group === need.group;
  const section = ({ state }: Machine): number =>
    state === State.Configured ? 0 : state === State.Configuring ? 1 : 2;
  const inOrder = [...claimed].sort(
    (a, b) =>
      Number(facts.isPooled(a)) - Number(facts.isPooled(b)) ||
      // A credited machine may have an action too: somebody else preempts it.
      (facts.isPooled(a) ? emitted.indexOf(a.id) - emitted.indexOf(b.id) : 0) ||
      Number(isOwn(b)) - Number(isOwn(a)) ||
      section(a) - section(b) ||
      a.pricePerHour - b.pricePerHour ||
      b.assigned.reclamationBucket - a.assigned.reclamationBucket ||
      compareText(a.id, b.id),
  );
  let remaining = need.aggregate;
  for (const machine of inOrder) {
    assert.ok(
      contributes(machine.allocatable, remaining),
      `property 3: ${machine.id} was claimed in vain`,
    );
    remaining = subtract(remaining, machine.allocatable);
  }
}

/** The crediting half of property 4: what a cluster holds is used before the need is unmet. */
function checkSupplyIsCredited({ input, output }: Case, verdict: Verdict): void {
  const { need, sameDomain, deficit } = verdict;
  const left = input.machines.filter(
    (machine) =>
      !output.claims.has(machine.id) &&
      (facts.isBoundTo(machine, need.cluster) || facts.isOwnCreating(machine, need)) &&
      facts.fits(machine, need) &&
      (facts.isFinite(machine, need) || facts.servesAlready(machine, need)) &&
      facts.sameValue(machine, need) === sameDomain &&
      contributes(machine.allocatable, deficit),
  );
  assert.deepEqual(
    left.map(({ id }) => id),
    [],
    'property 4: own supply left uncredited',
  );
}

function checkCounts(verdict: Verdict, claimed: readonly Machine[]): void {
  const inState = (state: number): number =>
    claimed.filter((machine) => machine.state === state).length;
  assert.deepEqual(
    [verdict.claimedCount, verdict.bootstrapCount, verdict.provisionCount],
    [claimed.length, inState(State.Idle), inState(State.Speculative)],
  );
}

function effectivePriority({ output }: Case, machine: Machine): number {
  const claimant = output.verdicts[output.claims.get(machine.id) ?? -1];
  return Math.max(
    machine.assigned.priority,
    claimant?.need.profile.priority ?? machine.assigned.priority,
  );
}

/** Property 14 and the Phase 2 half of 16: preempts belong to verdicts in order of priority. */
function checkPreemptions(all: Case): void {
  const preempts = all.output.actions.filter(({ kind }) => kind === ActionKind.Preempt);
  const preemptors = all.output.verdicts.toSorted(
    (a, b) => b.need.profile.priority - a.need.profile.priority,
  );
  let at = 0;
  for (const verdict of preemptors) {
    const mine = preempts.slice(at, at + verdict.victimCount);
    at += mine.length;
    assert.equal(mine.length, verdict.victimCount, 'victims without an action');
    checkVictims(all, verdict, mine);
  }
  assert.equal(at, preempts.length, 'preemptions that no verdict counts');
}

function checkVictims(all: Case, verdict: Verdict, actions: readonly Action[]): void {
  const { need } = verdict;
  const { cluster, profile } = need;
  if (actions.length > 0) {
    assert.ok(!verdict.satisfied && !verdict.parked, 'a satisfied or parked need preempts');
    assert.ok(!all.input.heldOff.has(heldOffKey(cluster, profile.fingerprint)), 'held off');
  }
  let freed = noResources;
  for (const action of actions) {
    const machine = all.byId.get(action.machineId);
    assert.ok(machine !== undefined);
    const gap = profile.priority - effectivePriority(all, machine);
    assert.ok(gap > 0, `property 14: ${machine.id} is not of lower priority`);
    assert.equal(action.graceSeconds, drainGraceSeconds(gap), `grace of ${machine.id}`);
    assert.equal(action.preemptorPriority, profile.priority);
    assert.equal(action.cluster, machine.cluster);
    assert.ok(facts.fits(machine, need), `${machine.id} does not fit its preemptor`);
    assert.ok(facts.isFinite(machine, need), `property 16: ${machine.id} is of infinite cost`);
    const claimant = all.output.verdicts[all.output.claims.get(machine.id) ?? -1];
    assert.notEqual(claimant?.need.cluster, cluster, `${machine.id} is the preemptor's own supply`);
    if (profile.same !== undefined) {
      assert.equal(facts.sameValue(machine, need), verdict.sameDomain, `${machine.id} domain`);
    }
    assert.ok(!covers(freed, verdict.deficit), `property 14: ${machine.id} was not needed`);
    freed = add(freed, machine.allocatable);
  }
  assert.deepEqual(verdict.freed, freed);
}

/** Property 13, up to what Phase 2 drains already and what is not ours to act on. */
function checkReclaims({ input, output }: Case): void {
  const kinds = new Map(output.actions.map(({ machineId, kind }) => [machineId, kind]));
  for (const machine of input.machines) {
    const kind = kinds.get(machine.id);
    const isExcess =
      machine.state === State.Configured &&
      machine.withheld === undefined &&
      input.reportedClusters.has(machine.cluster) &&
      !output.claims.has(machine.id);
    if (isExcess && kind === ActionKind.Preempt) continue;
    assert.equal(kind === ActionKind.Reclaim, isExcess, `property 13: ${machine.id}`);
  }
}

function checkReleases({ input, output }: Case): void {
  const deleted = new Set(
    output.actions
      .filter(({ kind }) => kind === ActionKind.Delete)
      .map(({ machineId }) => machineId),
  );
  for (const machine of input.machines) {
    const since = input.idleSinceMs.get(machine.id);
    const isDue =
      machine.state === State.Idle &&
      machine.withheld === undefined &&
      !output.claims.has(machine.id) &&
      since !== undefined &&
      input.nowMs - since >= holdMs(machine.capacityType, input.releasePolicy);
    assert.equal(deleted.has(machine.id), isDue, `release of ${machine.id}`);
  }
}
