// Proves that a record says what the cycle decided: every action and every unsatisfied need, with
// the same facts, in order, nothing else; and the same bytes for the same inputs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { readCycle } from '../cycle/plain.ts';
import type { CycleInput, CycleOutput, Verdict } from '../model/cycle.ts';
import { decide } from '../explain/testing/decide.ts';
import { type Action, ActionKind } from '../model/action.ts';
import type { Machine } from '../model/machine.ts';
import { parseFingerprint } from '../model/profile.ts';
import { randomFleet } from '../testing/generate.ts';
import {
  type DecisionRecord,
  MAX_CANDIDATES,
  MAX_CANDIDATES_COVERED,
  type RecordedAction,
  type RecordedNeed,
} from './format.ts';

const FLEETS = Number(process.env['BIGFLEET_FLEETS'] ?? 1000);
const FIRST = Number(process.env['BIGFLEET_SEED'] ?? 1);

test(`records hold what was decided on ${FLEETS} fleets`, () => {
  for (let seed = FIRST; seed < FIRST + FLEETS; seed++) {
    const input = randomFleet(createRandom(`record-${seed}`));
    const { engine, record, bytes } = decide(input);
    const output = readCycle(engine);
    assert.deepEqual([record.cycle, record.nowMs], [1, input.nowMs]);
    checkActions(input, output, record, `seed ${seed}`);
    checkNeeds(output, record, `seed ${seed}`);
    assert.deepEqual(decide(input).bytes, bytes, `seed ${seed}: the same inputs, the same bytes`);
  }
});

function checkActions(
  input: CycleInput,
  { actions, verdicts, claims }: CycleOutput,
  record: DecisionRecord,
  where: string,
): void {
  assert.equal(record.actions.length, actions.length, where);
  const machines = new Map(input.machines.map((machine) => [machine.id, machine]));
  actions.forEach((action, at) => {
    const recorded = record.actions[at] as RecordedAction;
    const machine = machines.get(action.machineId) as Machine;
    const { kind, machineId, cluster, graceSeconds } = action;
    const facts = { kind, machineId, cluster, graceSeconds };
    assert.deepEqual(pickFacts(recorded, facts), facts, where);
    assert.deepEqual(recorded.shape, shapeOf(machine), where);
    assert.deepEqual(needFacts(record, recorded), wantedFacts(action), where);
    // A victim is as safe as what it serves, which is at least its stamp.
    const claimant = verdicts[claims.get(machineId) ?? -1]?.need.profile.priority;
    if (kind !== ActionKind.Preempt) return;
    const expected = Math.max(machine.assigned.priority, claimant ?? machine.assigned.priority);
    assert.equal(recorded.effectivePriority, expected, where);
  });
}

function pickFacts<T extends object>(from: T, like: Partial<T>): object {
  const keys = Object.keys(like) as (keyof T)[];
  return Object.fromEntries(keys.map((key) => [key, from[key]]));
}

function shapeOf(machine: Machine): RecordedAction['shape'] {
  const { provider, instanceType, zone, capacityType } = machine;
  const { pricePerHour, interruptionProbability } = machine;
  return { provider, instanceType, zone, capacityType, pricePerHour, interruptionProbability };
}

/** Served need by identity, preempting need by priority: what an action itself says. */
function needFacts({ needs }: DecisionRecord, { need, kind }: RecordedAction): unknown {
  const named = needs[need];
  if (named === undefined) return undefined;
  const { cluster, fingerprint, group } = named;
  if (kind === ActionKind.Preempt) return parseFingerprint(fingerprint)?.priority;
  return { cluster, fingerprint, group };
}

function wantedFacts(action: Action): unknown {
  const { kind, cluster, fingerprint, group, preemptorPriority } = action;
  if (kind === ActionKind.Preempt) return preemptorPriority;
  const isServing = kind === ActionKind.Bootstrap || kind === ActionKind.Provision;
  return isServing ? { cluster, fingerprint, group } : undefined;
}

/** As lists of facts: merged gangs of several sizes share one identity. */
function checkNeeds({ verdicts }: CycleOutput, record: DecisionRecord, where: string): void {
  const recorded = record.needs.map((need) => ({
    ...pickFacts(need, {
      cluster: need.cluster,
      fingerprint: need.fingerprint,
      group: need.group,
      reasonCode: need.reasonCode,
      isSatisfied: need.isSatisfied,
      isParked: need.isParked,
      domain: need.domain,
      bootstrapCount: need.bootstrapCount,
      provisionCount: need.provisionCount,
      victimCount: need.victimCount,
      awaitingDrainCount: need.awaitingDrainCount,
    }),
    claimedCount: need.creditedCount + need.bootstrapCount + need.provisionCount,
    deficit: [...need.deficit].map(asText).sort(),
  }));
  const mentioned = verdicts.filter(isMentioned).map(factsOf);
  assert.deepEqual(recorded.map(asText).sort(), mentioned.map(asText).sort(), where);
  for (const need of record.needs) {
    const limit = need.isSatisfied ? MAX_CANDIDATES_COVERED : MAX_CANDIDATES;
    assert.ok(need.candidates.length <= limit, where);
    checkPreemption(need, where);
    checkVictims(need, record, where);
  }
}

function checkPreemption(need: RecordedNeed, where: string): void {
  const { isSatisfied, isParked, preemptionCode, victimCount, domain } = need;
  assert.equal(preemptionCode === undefined, isSatisfied, where);
  assert.equal(preemptionCode === 'chosen', victimCount > 0, where);
  // A need whose operator refused a bootstrap may not preempt either, by the same code.
  if (isParked && !isSatisfied) assert.equal(preemptionCode, 'preemptor_parked', where);
  const isGang = parseFingerprint(need.fingerprint)?.same !== undefined;
  const isLost = isGang && domain === '' && !isParked && !isSatisfied;
  assert.equal(preemptionCode === 'preemptor_no_domain', isLost, where);
}

/** Rows of bound machines say what the actions say; needs that may not preempt have none. */
function checkVictims(need: RecordedNeed, { needs, actions }: DecisionRecord, where: string): void {
  const { victims, victimCount, preemptionCode, isVictimsTruncated } = need;
  assert.ok(victims.length <= MAX_CANDIDATES, where);
  if (preemptionCode === undefined || preemptionCode.startsWith('preemptor_')) {
    assert.deepEqual([victims, isVictimsTruncated], [[], false], where);
  }
  const chosen = victims.filter(({ code }) => code === 'chosen');
  const told = chosen.reduce((sum, { chosenCount }) => sum + chosenCount, 0);
  if (!isVictimsTruncated) assert.equal(told, victimCount, where);
  const taken = actions.filter(
    ({ kind, need: at }) => kind === ActionKind.Preempt && needs[at] === need,
  );
  for (const { shape, effectivePriority, chosenCount } of chosen) {
    const like = taken.filter(
      (action) => action.shape === shape && action.effectivePriority === effectivePriority,
    );
    assert.ok(chosenCount > 0 && chosenCount <= like.length, where);
  }
}

/** A need that its own cluster covers takes part in no decision. */
function isMentioned({ satisfied, bootstrapCount, provisionCount }: Verdict): boolean {
  return !satisfied || bootstrapCount + provisionCount > 0;
}

function factsOf({ need, ...verdict }: Verdict): object {
  return {
    cluster: need.cluster,
    fingerprint: need.profile.fingerprint,
    group: need.group,
    reasonCode: verdict.reasonCode,
    isSatisfied: verdict.satisfied,
    isParked: verdict.parked,
    domain: verdict.sameDomain ?? '',
    bootstrapCount: verdict.bootstrapCount,
    provisionCount: verdict.provisionCount,
    victimCount: verdict.victimCount,
    awaitingDrainCount: verdict.awaitingDrainCount,
    claimedCount: verdict.claimedCount,
    deficit: [...verdict.deficit].map(asText).sort(),
  };
}

function asText(facts: object): string {
  return JSON.stringify(facts);
}
