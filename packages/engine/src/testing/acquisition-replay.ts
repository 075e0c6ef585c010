// Properties 4 to 8 of engine §12, by replaying Phase 1's actions one by one: at each step the machine
// that was taken must have been allowed and no excluded-by-nothing machine may have been
// cheaper; at the end of a need's turn nothing that it could use may be left. What is left then
// is what lower needs acquire later, so this is property 5 as well.

import assert from 'node:assert/strict';
import { type CycleInput, type CycleOutput, type Verdict, heldOffKey } from '../model/cycle.ts';
import { machineTypeKey } from '../model/brakes.ts';
import { ActionKind } from '../model/action.ts';
import type { Machine } from '../model/machine.ts';
import { compareAcquisition } from '../model/need.ts';
import { contributes, isZero, type Resources, subtract } from '../model/resources.ts';
import { State } from '../model/state.ts';
import { cost, fits, isFinite, isPooled, risk, sameValue, spreadValue } from './facts.ts';

interface Replay {
  readonly input: CycleInput;
  readonly taken: Set<string>;
  readonly quota: Map<string, number>;
  readonly brakes: { readonly needs: Map<string, number>; readonly types: Map<string, number> };
}

interface Turn {
  readonly replay: Replay;
  readonly verdict: Verdict;
  remaining: Resources;
  /** Topology values seen when the turn began, with how many machines serve there. */
  readonly counts: Map<string, number>;
  /** For Same: the one value, once it is known. */
  domain: string | undefined;
}

export function checkAcquisition(input: CycleInput, output: CycleOutput): void {
  const byId = new Map(input.machines.map((machine) => [machine.id, machine]));
  const acquisitions = output.actions
    .filter(({ kind }) => kind === ActionKind.Bootstrap || kind === ActionKind.Provision)
    .map(({ machineId }) => ({ machineId, claimant: output.claims.get(machineId) }));
  const replay: Replay = {
    input,
    taken: new Set(),
    quota: new Map(input.quotaRemaining),
    brakes: { needs: new Map(input.brakes.needs), types: new Map(input.brakes.types) },
  };
  const order = output.verdicts
    .map((verdict, index) => ({ verdict, index }))
    .sort((a, b) => compareAcquisition(a.verdict.need, b.verdict.need));
  let at = 0;
  for (const { verdict, index } of order) {
    const credited = [...output.claims]
      .filter(([, claimant]) => claimant === index)
      .flatMap(([id]) => byId.get(id) ?? [])
      .filter((machine) => !isPooled(machine));
    const turn = openTurn(replay, verdict, credited);
    while (acquisitions[at]?.claimant === index) {
      const machine = byId.get(acquisitions[at]?.machineId ?? '');
      assert.ok(machine !== undefined, 'action on an unknown machine');
      checkStep(turn, machine);
      at++;
    }
    checkEnd(turn);
  }
  assert.equal(at, acquisitions.length, 'acquisitions are not in order of precedence');
}

function openTurn(replay: Replay, verdict: Verdict, credited: readonly Machine[]): Turn {
  const { need, sameDomain } = verdict;
  let remaining = need.aggregate;
  for (const machine of credited) remaining = subtract(remaining, machine.allocatable);
  const turn: Turn = { replay, verdict, remaining, counts: new Map(), domain: sameDomain };
  if (need.profile.hardSpread !== undefined) {
    for (const machine of candidates(turn)) turn.counts.set(spreadValue(machine, need) ?? '', 0);
    for (const machine of credited) {
      const value = spreadValue(machine, need);
      if (value !== undefined) turn.counts.set(value, (turn.counts.get(value) ?? 0) + 1);
    }
  }
  return turn;
}

/** Everything that the need could take now, domain and quota included, skew not. */
function candidates(turn: Turn): Machine[] {
  const { replay, verdict, remaining, domain } = turn;
  const { need } = verdict;
  return replay.input.machines.filter(
    (machine) =>
      isPooled(machine) &&
      !replay.taken.has(machine.id) &&
      fits(machine, need) &&
      isFinite(machine, need) &&
      contributes(machine.allocatable, remaining) &&
      (machine.state === State.Idle ||
        ((replay.quota.get(machine.provider) ?? Number.POSITIVE_INFINITY) > 0 &&
          replay.brakes.types.get(machineTypeKey(machine.provider, machine.instanceType)) !== 0)) &&
      (domain === undefined || sameValue(machine, need) === domain) &&
      (need.profile.hardSpread === undefined || spreadValue(machine, need) !== undefined),
  );
}

function checkStep(turn: Turn, machine: Machine): void {
  const { need } = turn.verdict;
  assert.ok(mayAcquire(turn), `${machine.id} acquired for a parked, held-off or braked need`);
  assert.ok(!isZero(turn.remaining), `${machine.id} acquired for a need that was covered`);
  if (need.profile.same !== undefined) turn.domain ??= sameValue(machine, need);
  const open = candidates(turn);
  assert.ok(open.includes(machine), `${machine.id} was not usable when it was acquired`);
  const value = spreadValue(machine, need);
  assert.ok(value === undefined || isEligible(turn, value), `property 8: ${machine.id} skews`);
  checkPreference(turn, machine, open);
  turn.replay.taken.add(machine.id);
  turn.remaining = subtract(turn.remaining, machine.allocatable);
  if (value !== undefined) turn.counts.set(value, (turn.counts.get(value) ?? 0) + 1);
  const { quota, brakes } = turn.replay;
  draw(brakes.needs, heldOffKey(need.cluster, need.profile.fingerprint));
  if (machine.state !== State.Speculative) return;
  draw(quota, machine.provider);
  draw(brakes.types, machineTypeKey(machine.provider, machine.instanceType));
}

/** Properties 6 and 7. Spread judges passing over per bucket, everything else over all. */
function checkPreference(turn: Turn, machine: Machine, open: readonly Machine[]): void {
  const { need } = turn.verdict;
  const eligible = open.filter((other) => {
    const value = spreadValue(other, need);
    return value === undefined || isEligible(turn, value);
  });
  const bucketOf = (member: Machine): Machine[] =>
    eligible.filter((other) => spreadValue(other, need) === spreadValue(member, need));
  const freeIdle = eligible.filter(
    (other) =>
      other.state === State.Idle && !bucketOf(other).some((rival) => outbids(rival, other, turn)),
  );
  if (machine.state === State.Idle) {
    assert.ok(freeIdle.includes(machine), `property 6: ${machine.id} should be passed over`);
    for (const other of freeIdle) {
      assert.ok(cost(other, need) >= cost(machine, need), `property 7: ${other.id} was cheaper`);
    }
    return;
  }
  assert.deepEqual(
    freeIdle.map(({ id }) => id),
    [],
    `property 6: ${machine.id} provisioned`,
  );
  assert.ok(isTakeable(turn, machine, bucketOf(machine)), `property 6: ${machine.id} outbids none`);
  for (const other of eligible) {
    if (other.state !== State.Speculative || !isTakeable(turn, other, bucketOf(other))) continue;
    assert.ok(cost(other, need) >= cost(machine, need), `property 7: ${other.id} was cheaper`);
  }
}

/** A Speculative machine that steps 2 and 3 do not exclude inside its bucket. */
function isTakeable(turn: Turn, machine: Machine, bucket: readonly Machine[]): boolean {
  const { need } = turn.verdict;
  const idleCosts = bucket
    .filter(({ state }) => state === State.Idle)
    .map((other) => cost(other, need));
  if (idleCosts.length === 0) return true;
  const cheapest = Math.min(...idleCosts);
  return bucket.some(
    (other) =>
      other.state === State.Idle && cost(other, need) === cheapest && outbids(machine, other, turn),
  );
}

function outbids(rival: Machine, idle: Machine, turn: Turn): boolean {
  const { need } = turn.verdict;
  return (
    rival.state === State.Speculative &&
    cost(rival, need) < cost(idle, need) &&
    risk(rival, need) < risk(idle, need)
  );
}

function isEligible(turn: Turn, value: string): boolean {
  const skew = Math.max(1, turn.verdict.need.profile.hardSpread?.maxSkew ?? 1);
  const least = Math.min(...turn.counts.values());
  return (turn.counts.get(value) ?? 0) + 1 - least <= skew;
}

/** Properties 4 and 5: nothing usable is left to the pool or to lower precedence. */
function checkEnd(turn: Turn): void {
  const { need } = turn.verdict;
  assert.deepEqual(turn.remaining, turn.verdict.deficit, 'deficit is not what no claim covers');
  if (isZero(turn.remaining) || !mayAcquire(turn)) return;
  const left = candidates(turn).filter((machine) => {
    const value = spreadValue(machine, need);
    return value === undefined || isEligible(turn, value);
  });
  assert.deepEqual(
    left.map(({ id }) => id),
    [],
    `properties 4, 5: usable machines left by ${need.cluster} ${need.profile.fingerprint}`,
  );
}

function mayAcquire({ replay, verdict }: Turn): boolean {
  const { cluster, profile } = verdict.need;
  const key = heldOffKey(cluster, profile.fingerprint);
  return !verdict.parked && !replay.input.heldOff.has(key) && replay.brakes.needs.get(key) !== 0;
}

function draw(limits: Map<string, number>, key: string): void {
  const left = limits.get(key);
  if (left !== undefined) limits.set(key, left - 1);
}
