// Proves that the bound machines recorded for a need are exactly those that Phase 2 had to judge,
// each with the code, the score and the priority that a naive recount over the oracle's ledger
// gives: nothing is missing while a list is not cut, and nothing in it is made up.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketUpperBoundDollars, compareText, createRandom } from '@bigfleet/base';
import type { CycleInput } from '../model/cycle.ts';
import { decide } from '../explain/testing/decide.ts';
import type { Machine } from '../model/machine.ts';
import { contributes, isZero, type Resources, subtract } from '../model/resources.ts';
import { State } from '../model/state.ts';
import { victimScore } from '../model/victim-score.ts';
import { acquireAll } from '../oracle/acquire.ts';
import { creditAll } from '../oracle/credit.ts';
import { type Entry, isCovered, type Ledger, mayTry, openLedger } from '../oracle/ledger.ts';
import { normalizeDemand } from '../oracle/normalize.ts';
import { preemptAll } from '../oracle/phase2.ts';
import { fits, isFinite, sameValue } from '../testing/facts.ts';
import { randomFleet } from '../testing/generate.ts';
import {
  MAX_CANDIDATES,
  MAX_NAMED_VICTIMS,
  type RecordedClass,
  type RecordedNeed,
} from './format.ts';

const FLEETS = Number(process.env['BIGFLEET_FLEETS'] ?? 1000);
const FIRST = Number(process.env['BIGFLEET_SEED'] ?? 1);

const CODES = [
  'chosen',
  'infinite_cost',
  'no_contribution',
  'spread_skew',
  'victim_claimed_higher',
  'victim_not_configured',
  'victim_own_cluster',
  'victim_priority_not_lower',
  'victim_score_lower',
  'victim_taken',
  'wrong_domain',
];

test(`recorded victims are those of a naive recount on ${FLEETS} fleets`, () => {
  const seen = new Set<string>();
  let wholeCount = 0;
  for (let seed = FIRST; seed < FIRST + FLEETS; seed++) {
    const input = randomFleet(createRandom(`victims-${seed}`));
    const { record } = decide(input);
    const ledger = ledgerOf(input);
    const entries = [...ledger.entries];
    for (const need of record.needs) {
      const at = entries.findIndex((entry) => isAbout(entry, need));
      assert.ok(at >= 0, `seed ${seed}: a recorded need is unknown to the oracle`);
      const [entry] = entries.splice(at, 1) as [Entry];
      check(need, judge(ledger, entry), `seed ${seed}: ${need.fingerprint}`);
      for (const { code } of need.victims) seen.add(code);
      if (need.victims.length > 0 && !need.isVictimsTruncated) wholeCount += 1;
    }
  }
  if (FLEETS < 1000) return;
  assert.deepEqual([...seen].sort(), CODES);
  assert.ok(wholeCount > 500, `${wholeCount} lists were compared whole`);
});

interface Judged {
  readonly machine: Machine;
  readonly priority: number;
  readonly code: string;
  readonly score: number | undefined;
}

function check(need: RecordedNeed, judged: readonly Judged[], where: string): void {
  const { victims, isVictimsTruncated } = need;
  const expected = new Map<string, string[]>();
  for (const each of judged) {
    const key = keyOf(each);
    expected.set(key, [...(expected.get(key) ?? []), each.machine.id]);
  }
  const counts = new Map<string, number>();
  for (const row of victims) {
    const { shape, effectivePriority, code, score, machineIds } = row;
    const { interruptionPenalty, reclamationPenalty } = row;
    const rest = [effectivePriority, interruptionPenalty, reclamationPenalty, code, score];
    const key = [shapeKey(shape), ...rest].join(' ');
    const count = row.chosenCount + row.leftCount;
    assert.equal(code === 'chosen' ? row.leftCount : row.chosenCount, 0, where);
    assert.equal(machineIds.length, Math.min(count, MAX_NAMED_VICTIMS), where);
    for (const id of machineIds)
      assert.ok(expected.get(key)?.includes(id), `${where} ${id} ${key}`);
    counts.set(key, (counts.get(key) ?? 0) + count);
  }
  for (const [key, count] of counts) {
    assert.ok(count <= (expected.get(key)?.length ?? 0), `${where} ${key}`);
  }
  const scores = victims.flatMap(({ score }) => (score === undefined ? [] : [score]));
  assert.deepEqual(
    victims.map(({ score }) => score).slice(0, scores.length),
    [...scores].sort((a, b) => b - a),
    `${where}: ranked ones come first, best first`,
  );
  if (isVictimsTruncated) {
    assert.equal(victims.length, MAX_CANDIDATES, where);
    return;
  }
  const whole = [...expected].map(([key, ids]) => [key, ids.length] as const);
  assert.deepEqual(counts, new Map(whole), where);
}

function keyOf({ machine, priority, code, score }: Judged): string {
  const { interruptionBucket, reclamationBucket } = machine.assigned;
  const penalties = [interruptionBucket, reclamationBucket].map(bucketUpperBoundDollars);
  return [shapeKey(machine), priority, ...penalties, code, score].join(' ');
}

function shapeKey(shape: RecordedClass): string {
  const { provider, instanceType, zone, capacityType } = shape;
  const { pricePerHour, interruptionProbability } = shape;
  const numbers = [capacityType, pricePerHour, interruptionProbability].join(' ');
  return `${provider} ${instanceType} ${zone} ${numbers}`;
}

function ledgerOf(input: CycleInput): Ledger {
  const ledger = openLedger(input, normalizeDemand(input));
  creditAll(ledger);
  acquireAll(ledger);
  preemptAll(ledger);
  return ledger;
}

/** Merged gangs of several sizes share an identity: their counts tell them apart. */
function isAbout(entry: Entry, recorded: RecordedNeed): boolean {
  const { need, credited, acquired, victims, awaited } = entry;
  return (
    need.cluster === recorded.cluster &&
    need.profile.fingerprint === recorded.fingerprint &&
    need.group === recorded.group &&
    isCovered(entry) === recorded.isSatisfied &&
    credited.length === recorded.creditedCount &&
    acquired.length === recorded.bootstrapCount + recorded.provisionCount &&
    victims.length === recorded.victimCount &&
    awaited.length === recorded.awaitingDrainCount
  );
}

/** Whether its brake left a try when Phase 2 began: the ledger is that of its end. */
function mightTry({ entries, brakes }: Ledger, { brakeKey }: Entry): boolean {
  const sharing = entries.filter((other) => other.brakeKey === brakeKey);
  const tried = sharing.reduce((sum, { victims }) => sum + victims.length, 0);
  return (brakes.needs.get(brakeKey) ?? Number.POSITIVE_INFINITY) + tried > 0;
}

/** Every bound machine that may be meant, with what the specification says of it (engine §6, §15.3). */
function judge(ledger: Ledger, entry: Entry): Judged[] {
  const { need, awaited } = entry;
  const open = awaited.reduce((left, each) => subtract(left, each.allocatable), entry.remaining);
  const mayPreempt =
    !entry.parked &&
    !entry.isRefused &&
    mightTry(ledger, entry) &&
    (!need.profile.same || entry.domain);
  if (isCovered(entry) || !mayPreempt || isZero(open)) return [];
  const picked = pickedBefore(ledger, entry);
  const judged: Judged[] = [];
  const ranked: Judged[] = [];
  for (const machine of ledger.input.machines) {
    if (machine.withheld !== undefined || !fits(machine, need)) continue;
    const stamp = machine.assigned.priority;
    if (machine.state === State.Draining) {
      if (awaited.includes(machine) || uselessCode(entry, machine)) continue;
      judged.push({ machine, priority: stamp, code: 'victim_not_configured', score: undefined });
    }
    if (machine.state !== State.Configured) continue;
    const claimant = ledger.entries[ledger.claims.get(machine.id) ?? -1]?.need;
    const priority = Math.max(stamp, claimant?.profile.priority ?? stamp);
    const code = unrankedCode(entry, machine, priority, picked, claimant?.cluster);
    if (code !== undefined) judged.push({ machine, priority, code, score: undefined });
    else ranked.push({ machine, priority, code: '', score: scoreOf(entry, machine, priority) });
  }
  return [...judged, ...walk(entry, ranked, open, !mayTry(ledger, entry))];
}

/** Victims of needs whose turn came earlier: by priority, else in normalised order. */
function pickedBefore({ entries }: Ledger, { need, index }: Entry): ReadonlySet<Machine> {
  const { priority } = need.profile;
  const earlier = entries.filter((other) => {
    const theirs = other.need.profile.priority;
    return theirs > priority || (theirs === priority && other.index < index);
  });
  return new Set(earlier.flatMap(({ victims }) => victims));
}

function uselessCode({ need, domain }: Entry, machine: Machine): string | undefined {
  if (!isFinite(machine, need)) return 'infinite_cost';
  const isOutside = need.profile.same !== undefined && sameValue(machine, need) !== domain;
  return isOutside ? 'wrong_domain' : undefined;
}

function unrankedCode(
  entry: Entry,
  machine: Machine,
  priority: number,
  picked: ReadonlySet<Machine>,
  claimingCluster: string | undefined,
): string | undefined {
  const preemptor = entry.need.profile.priority;
  if (machine.assigned.priority >= preemptor) return 'victim_priority_not_lower';
  if (priority >= preemptor) return 'victim_claimed_higher';
  const useless = uselessCode(entry, machine);
  if (useless !== undefined) return useless;
  if (picked.has(machine)) return 'victim_taken';
  return claimingCluster === entry.need.cluster ? 'victim_own_cluster' : undefined;
}

function scoreOf({ need }: Entry, { assigned }: Machine, priority: number): number {
  return victimScore(need.profile.priority, {
    priority,
    interruptionPenaltyDollars: bucketUpperBoundDollars(assigned.interruptionBucket),
    reclamationPenaltyDollars: bucketUpperBoundDollars(assigned.reclamationBucket),
  });
}

/** Down the ranking, with the oracle's word on what was taken. */
function walk(
  entry: Entry,
  ranked: readonly Judged[],
  atFirst: Resources,
  isBrakeSpent: boolean,
): Judged[] {
  let open = atFirst;
  const toTake = new Set(entry.victims);
  const order = [...ranked].sort(
    (a, b) => (b.score ?? 0) - (a.score ?? 0) || compareText(a.machine.id, b.machine.id),
  );
  return order.map((each) => {
    const { machine } = each;
    const { allocatable } = machine;
    if (isZero(open) || (isBrakeSpent && toTake.size === 0)) {
      const isUseful = contributes(allocatable, atFirst);
      return { ...each, code: isUseful ? 'victim_score_lower' : 'no_contribution' };
    }
    if (!contributes(allocatable, open)) return { ...each, code: 'no_contribution' };
    if (!toTake.delete(machine)) {
      assert.ok(entry.need.profile.hardSpread, 'only a spread forbids a victim that helps');
      return { ...each, code: 'spread_skew' };
    }
    open = subtract(open, allocatable);
    return { ...each, code: 'chosen' };
  });
}
