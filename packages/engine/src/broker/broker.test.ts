// Proves the broker: who displaces whom, that a refused proposal leaves no trace, that nothing is
// lost or counted twice, and that needs in any order end up as in one pass by precedence.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AssertionError, createRandom, type PenaltyBucket, type Random } from '@bigfleet/base';
import { comparePrecedence, type Precedence } from '../model/profile.ts';
import { State } from '../model/state.ts';
import { cores, need, RACK_KEY } from '../testing/build.ts';
import { shuffle } from '../testing/generate.ts';
import { Broker } from './broker.ts';
import {
  type Bucket,
  bucketName,
  type CommitResult,
  commitModeOf,
  type Proposal,
  RETRY_BUDGET,
} from './proposal.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'broker-1';

const bucket: Bucket = { state: State.Idle, fingerprint: 'f', topologyKey: '', topologyValue: '' };

function rank(priority: number, interruption = 1, reclamation = 1): Precedence {
  return {
    priority,
    interruptionBucket: interruption as PenaltyBucket,
    reclamationBucket: reclamation as PenaltyBucket,
  };
}

/** Proposes with the sequence of this moment. */
function propose(
  broker: Broker,
  init: Partial<Proposal> & Pick<Proposal, 'need' | 'machines'>,
): CommitResult {
  const where = init.bucket ?? bucket;
  return broker.submit({
    precedence: rank(0),
    mode: 'incremental',
    bucket: where,
    observedSequence: broker.sequenceOf(where),
    budget: RETRY_BUDGET,
    ...init,
  });
}

/** Everything that can be seen of the broker. */
function trace(broker: Broker): unknown {
  const claims = [...broker.claims()].sort(([a], [b]) => a - b);
  const byNeed = [...new Set(claims.map(([, holder]) => holder))].map((holder) => [
    holder,
    [...broker.machinesOf(holder)].sort((a, b) => a - b),
  ]);
  const counts = [broker.claimCount, broker.committedCount, broker.displacedCount];
  return { claims, byNeed, counts, sequence: broker.sequenceOf(bucket) };
}

function assertConserved(broker: Broker): void {
  assert.equal(broker.committedCount - broker.displacedCount, broker.claimCount);
  const claims = broker.claims();
  assert.equal(claims.size, broker.claimCount);
  const holders = new Set(claims.values());
  let indexed = 0;
  for (const holder of holders) {
    for (const machine of broker.machinesOf(holder)) assert.equal(claims.get(machine), holder);
    indexed += broker.machinesOf(holder).size;
  }
  assert.equal(indexed, claims.size, 'the index by need mirrors the claims');
}

test('free machines are claimed, and the sequence of the bucket moves on', () => {
  const broker = new Broker();
  const result = propose(broker, { need: 1, machines: [10, 11] });
  assert.deepEqual(result, { kind: 'committed', machines: [10, 11], displaced: [] });
  assert.deepEqual([broker.holderOf(10), broker.holderOf(11), broker.holderOf(12)], [1, 1, -1]);
  assert.deepEqual([...broker.machinesOf(1)], [10, 11]);
  assert.equal(broker.sequenceOf(bucket), 1);
  assertConserved(broker);
});

test('a higher need displaces a lower one, which loses one retry', () => {
  for (const [lower, higher] of [
    [rank(1), rank(2)],
    [rank(1, 3), rank(1, 4)],
    [rank(1, 3, 5), rank(1, 3, 6)],
    [rank(-(2 ** 31)), rank(2 ** 31 - 1)],
    [rank(1, 27, 27), rank(2)],
  ] as const) {
    const broker = new Broker();
    propose(broker, { need: 1, machines: [10], precedence: lower, budget: 7 });
    const result = propose(broker, { need: 2, machines: [10], precedence: higher });
    const displaced = [{ need: 1, budget: 6 }];
    assert.deepEqual(result, { kind: 'committed', machines: [10], displaced });
    assert.equal(broker.holderOf(10), 2);
    assert.equal(broker.machinesOf(1).size, 0);
    assertConserved(broker);
  }
});

test('an equal and a lower need do not displace; the first mover keeps', () => {
  for (const other of [rank(5, 4, 3), rank(4, 27, 27), rank(5, 3, 27), rank(5, 4, 2)]) {
    const broker = new Broker();
    propose(broker, { need: 1, machines: [10], precedence: rank(5, 4, 3) });
    const before = trace(broker);
    const result = propose(broker, { need: 2, machines: [10], precedence: other, budget: 3 });
    assert.deepEqual(result, { kind: 'conflict', reason: 'nothing_to_claim', budget: 2 });
    assert.deepEqual(trace(broker), before);
  }
});

test('all-or-nothing: takes everything', () => {
  const broker = new Broker();
  propose(broker, { need: 1, machines: [10] });
  const gang = {
    need: 2,
    machines: [10, 11],
    precedence: rank(1),
    mode: 'all-or-nothing',
  } as const;
  const result = propose(broker, gang);
  assert.equal(result.kind, 'committed');
  assert.deepEqual(broker.machinesOf(2), new Set([11, 10]));
});

test('all-or-nothing: one immovable machine aborts it without a trace', () => {
  const broker = new Broker();
  propose(broker, { need: 1, machines: [10], precedence: rank(1) });
  propose(broker, { need: 2, machines: [11], precedence: rank(9) });
  const before = trace(broker);
  const result = propose(broker, {
    need: 3,
    machines: [12, 10, 11],
    precedence: rank(5),
    mode: 'all-or-nothing',
  });
  assert.deepEqual(result, { kind: 'conflict', reason: 'immovable', budget: RETRY_BUDGET - 1 });
  assert.deepEqual(trace(broker), before);
});

test('incremental: takes the free and the displaceable, leaves the immovable', () => {
  const broker = new Broker();
  propose(broker, { need: 1, machines: [10], precedence: rank(1) });
  propose(broker, { need: 2, machines: [11], precedence: rank(9) });
  const result = propose(broker, { need: 3, machines: [11, 10, 12], precedence: rank(5) });
  assert.equal(result.kind, 'committed');
  assert.deepEqual(broker.machinesOf(3), new Set([12, 10]));
  assert.equal(broker.holderOf(11), 2);
  assertConserved(broker);
});

test('a need that loses several machines is named once, with its smallest budget', () => {
  const broker = new Broker();
  propose(broker, { need: 1, machines: [10], budget: 9 });
  propose(broker, { need: 1, machines: [11], budget: 4 });
  propose(broker, { need: 1, machines: [12], budget: 6 });
  propose(broker, { need: 2, machines: [13], budget: 8 });
  const result = propose(broker, { need: 3, machines: [10, 11, 12, 13], precedence: rank(1) });
  assert.ok(result.kind === 'committed');
  assert.deepEqual(
    result.displaced.toSorted((a, b) => a.need - b.need),
    [
      { need: 1, budget: 3 },
      { need: 2, budget: 7 },
    ],
  );
  assert.equal(broker.displacedCount, 4);
});

test('a displaced need without retries is still told, with 0', () => {
  const broker = new Broker();
  propose(broker, { need: 1, machines: [10], budget: 1 });
  propose(broker, { need: 2, machines: [11], budget: 0 });
  const result = propose(broker, { need: 3, machines: [10, 11], precedence: rank(1) });
  assert.ok(result.kind === 'committed');
  assert.deepEqual(result.displaced, [
    { need: 1, budget: 0 },
    { need: 2, budget: 0 },
  ]);
});

test('a need that loses one machine keeps the others', () => {
  const broker = new Broker();
  propose(broker, { need: 1, machines: [10, 11] });
  propose(broker, { need: 2, machines: [10], precedence: rank(1) });
  assert.deepEqual([...broker.machinesOf(1)], [11]);
  assertConserved(broker);
});

test('a proposal that saw an older sequence is refused, whatever it asks for', () => {
  const broker = new Broker();
  const stale = broker.sequenceOf(bucket);
  propose(broker, { need: 1, machines: [10] });
  const before = trace(broker);
  const result = propose(broker, {
    need: 2,
    machines: [12],
    precedence: rank(99),
    observedSequence: stale,
    budget: 5,
  });
  assert.deepEqual(result, { kind: 'conflict', reason: 'stale_sequence', budget: 4 });
  assert.deepEqual(trace(broker), before);
});

test('buckets conflict apart, and their parts cannot be forged', () => {
  const broker = new Broker();
  propose(broker, { need: 1, machines: [10] });
  const others: Bucket[] = [
    { ...bucket, state: State.Speculative },
    { ...bucket, fingerprint: 'f","' },
    { ...bucket, topologyKey: 'k' },
    { ...bucket, topologyValue: 'k' },
  ];
  for (const other of others) assert.equal(broker.sequenceOf(other), 0);
  const names = [bucket, ...others].map(bucketName);
  assert.equal(new Set(names).size, names.length);
});

test('a machine that is named twice counts once', () => {
  const broker = new Broker();
  const result = propose(broker, { need: 1, machines: [10, 10, 10] });
  assert.ok(result.kind === 'committed');
  assert.deepEqual(result.machines, [10]);
  assertConserved(broker);
});

test('an empty proposal is a conflict; proposing what one holds is a bug', () => {
  const broker = new Broker();
  assert.equal(propose(broker, { need: 1, machines: [] }).kind, 'conflict');
  propose(broker, { need: 1, machines: [10] });
  const again = (): CommitResult => propose(broker, { need: 1, machines: [10] });
  assert.throws(again, AssertionError);
});

test('gangs that spread over machines are taken whole, everybody else is not', () => {
  const wants = cores(4);
  assert.equal(commitModeOf(need({ wants })), 'incremental');
  assert.equal(commitModeOf(need({ wants, same: RACK_KEY, unit: cores(1) })), 'all-or-nothing');
  assert.equal(commitModeOf(need({ wants, same: RACK_KEY })), 'all-or-nothing');
  assert.equal(commitModeOf(need({ wants, same: RACK_KEY, unit: cores(4) })), 'incremental');
});

// A simple world: machines of two kinds in pool order, needs that want a number of machines of
// either or of one kind. A worker takes the first machines that a need of its rank could have.

interface Wanting {
  readonly need: number;
  readonly precedence: Precedence;
  readonly kind: 'a' | 'b' | 'any';
  readonly count: number;
}

interface World {
  readonly kinds: readonly ('a' | 'b')[];
  readonly needs: readonly Wanting[];
}

function randomWorld(random: Random): World {
  const kinds = Array.from({ length: random.below(14) }, () => (random.below(2) === 0 ? 'a' : 'b'));
  const ranks = shuffle(
    random,
    [0, 1].flatMap((priority) =>
      [1, 2].flatMap((interruption) =>
        [1, 2].map((reclamation) => rank(priority, interruption, reclamation)),
      ),
    ),
  );
  const needs = ranks.slice(0, 1 + random.below(6)).map((precedence, at) => ({
    need: at,
    precedence,
    kind: (['a', 'b', 'any'] as const)[random.below(3)] ?? 'any',
    count: 1 + random.below(4),
  }));
  return { kinds, needs };
}

function usable({ kinds }: World, { kind }: Wanting): number[] {
  return [...kinds.keys()].filter((machine) => kind === 'any' || kinds[machine] === kind);
}

/** The engine's way: one pass in order of precedence. */
function onePass(world: World): Map<number, number> {
  const claims = new Map<number, number>();
  const ordered = world.needs.toSorted((a, b) => comparePrecedence(b.precedence, a.precedence));
  for (const wanting of ordered) {
    const free = usable(world, wanting).filter((machine) => !claims.has(machine));
    for (const machine of free.slice(0, wanting.count)) claims.set(machine, wanting.need);
  }
  return claims;
}

function satisfied(world: World, claims: ReadonlyMap<number, number>): number[] {
  const counts = Map.groupBy(claims.values(), (holder) => holder);
  return world.needs
    .filter(({ need: each, count }) => (counts.get(each)?.length ?? 0) === count)
    .map(({ need: each }) => each)
    .sort((a, b) => a - b);
}

function choose(broker: Broker, world: World, wanting: Wanting): number[] {
  const held = broker.machinesOf(wanting.need);
  return usable(world, wanting)
    .filter((machine) => !held.has(machine) && broker.isClaimable(machine, wanting.precedence))
    .slice(0, wanting.count - held.size);
}

interface Queued {
  readonly need: number;
  readonly budget: number;
}

/** Workers in any order: each pulls a need, chooses, submits; what it displaces is queued again. */
function throughBroker(world: World, random: Random, budget: number): Broker {
  const broker = new Broker();
  const queue: Queued[] = shuffle(random, world.needs).map((wanting) => ({
    need: wanting.need,
    budget,
  }));
  while (queue.length > 0) {
    const [next] = queue.splice(random.below(queue.length), 1);
    const wanting = world.needs[next?.need ?? -1];
    if (next === undefined || wanting === undefined) continue;
    const machines = choose(broker, world, wanting);
    if (machines.length === 0) continue;
    const result = propose(broker, { ...wanting, machines, budget: next.budget });
    assertConserved(broker);
    assert.ok(result.kind === 'committed', 'nobody else submits in between');
    for (const displaced of result.displaced) if (displaced.budget > 0) queue.push(displaced);
  }
  return broker;
}

test(`needs in any order end up as in one pass by precedence (seed ${SEED})`, () => {
  const random = createRandom(SEED);
  let displacements = 0;
  for (let run = 0; run < 2000; run++) {
    const world = randomWorld(random.stream(`world-${run}`));
    const broker = throughBroker(world, random.stream(`order-${run}`), RETRY_BUDGET);
    const expected = onePass(world);
    const where = `run ${run}`;
    assert.deepEqual(satisfied(world, broker.claims()), satisfied(world, expected), where);
    assert.deepEqual(broker.claims(), expected, where);
    displacements += broker.displacedCount;
  }
  assert.ok(displacements > 500, `only ${displacements} displacements`);
});

test(`under concurrency a machine only rises, and nothing is lost (seed ${SEED})`, () => {
  const random = createRandom(`${SEED}-concurrent`);
  const reasons = new Map<string, number>();
  for (let run = 0; run < 1000; run++) runConcurrently(random.stream(`run-${run}`), reasons);
  assert.ok((reasons.get('stale_sequence') ?? 0) > 100, 'workers hardly met');
  assert.ok((reasons.get('immovable') ?? 0) > 10, `${reasons.get('immovable')} gangs met`);
});

/** Proposals are made now and submitted later, in any order: what they saw may be stale. */
function runConcurrently(random: Random, reasons: Map<string, number>): void {
  const world = randomWorld(random);
  const broker = new Broker();
  const retries = new Map(world.needs.map((wanting) => [wanting.need, RETRY_BUDGET]));
  const pending: Proposal[] = [];
  for (let step = 0; step < 60; step++) {
    const wanting = world.needs[random.below(world.needs.length)];
    const isBusy = pending.some((proposal) => proposal.need === wanting?.need);
    const budget = retries.get(wanting?.need ?? -1) ?? 0;
    if (wanting !== undefined && !isBusy && budget > 0 && random.below(2) === 0) {
      // Two kinds are two buckets, so that different workers do meet on the same machines.
      const own = { ...bucket, fingerprint: wanting.kind };
      pending.push({
        ...wanting,
        mode: random.below(3) > 0 ? 'all-or-nothing' : 'incremental',
        bucket: own,
        observedSequence: broker.sequenceOf(own),
        machines: choose(broker, world, wanting),
        budget,
      });
    } else if (pending.length > 0) {
      const [proposal] = pending.splice(random.below(pending.length), 1);
      if (proposal !== undefined) submitChecked(broker, world, proposal, retries, reasons);
    }
  }
}

function submitChecked(
  broker: Broker,
  world: World,
  proposal: Proposal,
  retries: Map<number, number>,
  reasons: Map<string, number>,
): void {
  const before = broker.claims();
  const result = broker.submit(proposal);
  assertConserved(broker);
  if (result.kind === 'conflict') {
    reasons.set(result.reason, (reasons.get(result.reason) ?? 0) + 1);
    assert.deepEqual(broker.claims(), before);
    assert.equal(result.budget, proposal.budget - 1);
    retries.set(proposal.need, result.budget);
    return;
  }
  for (const [machine, holder] of before) {
    const now = broker.holderOf(machine);
    if (now === holder) continue;
    const [lower, higher] = [world.needs[holder], world.needs[now]];
    assert.ok(lower !== undefined && higher !== undefined, 'a claim was dropped');
    assert.ok(comparePrecedence(higher.precedence, lower.precedence) > 0, 'a machine fell');
  }
  for (const { need: loser, budget } of result.displaced) retries.set(loser, budget);
}
