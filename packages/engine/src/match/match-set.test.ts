// Proves that a class set holds exactly the live classes whose shape satisfies its requirements,
// while classes come, go and have their numbers reused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, type Random } from '@bigfleet/base';
import type { Machine } from '../model/machine.ts';
import {
  Operator,
  type OperatorCode,
  type Requirement,
  satisfiesAll,
  ZONE_KEY,
} from '../model/requirement.ts';
import { covers } from '../model/resources.ts';
import { Classes } from '../store/classes.ts';
import { Dimensions } from '../store/dimensions.ts';
import { machine, RACK_KEY, resources } from '../testing/build.ts';
import { EligibleSets } from './eligible-set.ts';
import { type ClassSet, matchingClasses } from './match-set.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'match-1';

const KEYS = [ZONE_KEY, RACK_KEY, 'node.kubernetes.io/instance-type', 'arch'];
const VALUES = ['z1', 'r1', 'small', 'arm', ''];

test('a set follows the definition of classes and tells when it may have changed', () => {
  const classes = new Classes(new Dimensions());
  const requirement = { key: ZONE_KEY, operator: Operator.In, values: ['z1'] };
  const set = matchingClasses(classes, [requirement]);
  assert.deepEqual(set.members, []);
  const start = set.version;
  const other = classes.join(machine({ id: 'x', zone: 'z2' }));
  assert.deepEqual(set.members, []);
  assert.equal(set.version, start, 'a foreign class changes nothing');
  const own = classes.join(machine({ id: 'x', zone: 'z1' }));
  assert.deepEqual(set.members, [own]);
  assert.ok(set.has(own) && !set.has(other) && !set.has(99));
  assert.ok(set.version > start);
});

test('a reused number is judged anew, and the version says so even if it stays a member', () => {
  const classes = new Classes(new Dimensions());
  const set = matchingClasses(classes, [{ key: ZONE_KEY, operator: Operator.Exists, values: [] }]);
  const id = classes.join(machine({ id: 'x', zone: 'z1', price: 1 }));
  assert.deepEqual(set.members, [id]);
  const version = set.version;
  classes.leave(id);
  assert.equal(classes.join(machine({ id: 'x', zone: 'z1', price: 2 })), id);
  assert.deepEqual(set.members, [id]);
  assert.ok(set.version > version, 'its price is another');
  classes.leave(id);
  assert.equal(classes.join(machine({ id: 'x', zone: '' })), id);
  assert.deepEqual(set.members, []);
});

test(`match, eligible and domain sets agree with plain checks (seed ${SEED})`, () => {
  const random = createRandom(SEED);
  for (let run = 0; run < 20; run++) runRandom(random.stream(`run-${run}`));
});

interface Watched {
  readonly requirements: readonly Requirement[];
  readonly set: ClassSet;
  readonly eligible: ReturnType<EligibleSets['retain']>;
}

const UNIT = resources({ cpu: 1000, memory: 2 });

function runRandom(random: Random): void {
  const classes = new Classes(new Dimensions());
  const sets = new EligibleSets(classes);
  const live: { readonly record: Machine; readonly klass: number }[] = [];
  const watched: Watched[] = [];
  for (let step = 0; step < 120; step++) {
    if (random.below(8) === 0) watched.push(watch(random, sets, watched.length));
    if (live.length > 0 && random.below(3) === 0) {
      const [gone] = live.splice(random.below(live.length), 1);
      classes.leave(gone?.klass ?? assert.fail());
    } else {
      const record = randomMachine(random);
      live.push({ record, klass: classes.join(record) });
    }
    if (random.below(3) > 0) continue;
    for (const each of watched) assertAgrees(each, live);
  }
}

function watch(random: Random, sets: EligibleSets, at: number): Watched {
  const requirements = Array.from({ length: random.below(4) }, () => randomRequirement(random));
  const set = sets.retainMatch(requirements, `match-${at}`);
  return { requirements, set, eligible: sets.retain(set, UNIT, `eligible-${at}`) };
}

function assertAgrees(
  { requirements, set, eligible }: Watched,
  live: readonly { readonly record: Machine; readonly klass: number }[],
): void {
  const members = new Set(set.members);
  const domains = eligible.domains(RACK_KEY);
  for (const { record, klass } of live) {
    const matches = satisfiesAll(record, requirements);
    const fits = matches && covers(record.allocatable, UNIT);
    assert.equal(set.has(klass), matches);
    assert.equal(members.has(klass), matches);
    assert.equal(eligible.set.has(klass), fits);
    for (const rack of ['r1', 'r2', '']) {
      const isInside = fits && record.labels.get(RACK_KEY) === rack;
      assert.equal(domains.confinedTo(rack)?.members.includes(klass) ?? false, isInside);
      if (isInside) assert.equal(domains.values[domains.domainOf(klass)], rack);
    }
    const hasDomain = fits && record.labels.has(RACK_KEY);
    assert.equal(domains.domainOf(klass) >= 0, hasDomain);
  }
  assert.deepEqual(domains.values, domains.values.toSorted());
  for (const [number, value] of domains.values.entries()) {
    assert.equal(domains.numberOf(value), number);
    assert.equal(domains.domains[number]?.value, value);
  }
  assert.deepEqual(
    set.members,
    [...set.members].sort((a, b) => a - b),
  );
}

function randomMachine(random: Random): Machine {
  const labels: Record<string, string> = {};
  if (random.below(3) > 0) labels['arch'] = pick(random, ['arm', 'x86', '']);
  // A label that stands in for an empty zone.
  if (random.below(4) === 0) labels[ZONE_KEY] = 'z1';
  if (random.below(3) > 0) labels[RACK_KEY] = pick(random, ['r1', 'r2', '']);
  return machine({
    id: 'm',
    zone: pick(random, ['z1', 'z2', '']),
    type: pick(random, ['small', 'large', '']),
    has: pick(random, [resources({ cpu: 1000, memory: 2 }), resources({ cpu: 4000 })]),
    price: random.below(3),
    labels,
  });
}

function randomRequirement(random: Random): Requirement {
  const count = random.below(3);
  return {
    key: pick(random, KEYS),
    operator: (1 + random.below(5)) as OperatorCode,
    values: Array.from({ length: count }, () => pick(random, VALUES)),
  };
}

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)] as T;
}
