// Proves for random requests: the bytes do not depend on their order or history; sums and maxima are
// those of plain fractions; a refused request changes nothing else; and what is sent decodes to
// profiles and quantities that the shard accepts.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type PenaltyBucket, parseQuantity } from '@bigfleet/base';
import { createProfile, isOperatorCode } from '@bigfleet/engine';
import { decode, OperatorMessageSchema } from '@bigfleet/wire';
import fc from 'fast-check';
import type { CapacityRequest } from './capacity-request.ts';
import { DemandIndex } from './demand-index.ts';
import { encodeRollup } from './rollup.ts';
import { readRequest } from './read-request.ts';
import { request } from './testing/requests.ts';

const quantity = fc.oneof(
  fc.nat({ max: 5_000 }).map((n) => `${n}m`),
  fc.nat({ max: 64 }).map((n) => `${n}Gi`),
  fc.nat({ max: 9 }),
  fc.nat({ max: 99 }).map((n) => `${n}.5u`),
  fc.constant('1e3'),
);
const word = fc.constantFrom('a', 'b', 'zone', 'x,y', 'k=v|', '', '__proto__', 'é', '7');
const requirement = fc.record({
  key: word,
  operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist'),
  values: fc.array(word, { maxLength: 3 }),
});
const goodSpec = fc.record(
  {
    priority: fc.constantFrom(0, 1, -5, 1_000_000),
    resources: fc.dictionary(fc.constantFrom('cpu', 'memory', 'gpu', '__proto__', '7'), quantity),
    requirements: fc.array(requirement, { maxLength: 3 }),
    interruptionPenalty: fc.constantFrom('0', '500m', '3', '9M'),
    topologySpread: fc.array(
      fc.record({
        topologyKey: word,
        maxSkew: fc.constantFrom(1, 2),
        whenUnsatisfiable: fc.constantFrom('DoNotSchedule', 'ScheduleAnyway'),
      }),
      { maxLength: 2 },
    ),
    coLocation: fc.record({
      topologyKey: fc.constantFrom('rack', ''),
      labelSelector: fc.record({ matchLabels: fc.dictionary(word, word, { maxKeys: 2 }) }),
    }),
  },
  { requiredKeys: ['priority', 'resources'] },
);
const badSpec = goodSpec.map((spec) => ({ ...spec, resources: { cpu: 'much' } }));
const namespace = fc.constantFrom('a', 'b');
const good = fc.record({ namespace, spec: goodSpec }).map(request);
const bad = fc.record({ namespace, spec: badSpec }).map(request);

function indexOf(requests: readonly CapacityRequest[]): DemandIndex {
  const index = new DemandIndex();
  for (const one of requests) index.set(one);
  return index;
}

function bytesOf(index: DemandIndex): string {
  const { needs } = index.rollup();
  const bytes = encodeRollup('c', 1n, needs);
  return Buffer.from(bytes).toString('hex');
}

function needsOf(index: DemandIndex): ReturnType<typeof decodeNeeds> {
  return decodeNeeds(Buffer.from(bytesOf(index), 'hex'));
}

function decodeNeeds(bytes: Uint8Array) {
  const { payload } = decode(OperatorMessageSchema, bytes, 'INTERNAL');
  assert.ok(payload.case === 'rollup');
  return payload.value.needs;
}

function nanosOf(text: string): bigint {
  const parsed = parseQuantity(text);
  assert.ok(parsed.ok, text);
  return parsed.value.nanos;
}

/** Key to resource to every request's amount: slow, obvious, without vectors or counts. */
function oracle(requests: readonly CapacityRequest[]): Map<string, Map<string, bigint[]>> {
  const rows = new Map<string, Map<string, bigint[]>>();
  for (const one of requests) {
    const demand = readRequest(one);
    if (!demand.ok) continue;
    const key = `${demand.value.profile.fingerprint}\n${demand.value.group}`;
    const row = rows.get(key) ?? new Map<string, bigint[]>();
    rows.set(key, row);
    for (const [name, raw] of Object.entries(one.spec.resources)) {
      const nanos = nanosOf(String(raw));
      if (nanos > 0n) row.set(name, [...(row.get(name) ?? []), nanos]);
    }
  }
  return rows;
}

const milli = 1_000_000n;

function roundedUp(nanos: bigint): bigint {
  return ((nanos + milli - 1n) / milli) * milli;
}

describe('roll-ups', () => {
  it('do not depend on order or history', () => {
    const shuffled = fc
      .array(good, { maxLength: 12 })
      .chain((list) =>
        fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
      );
    fc.assert(
      fc.property(shuffled, fc.array(good, { maxLength: 4 }), ([list, other], gone) => {
        const index = indexOf([...gone, ...other, ...other]);
        for (const { uid } of gone) index.delete(uid);
        assert.equal(bytesOf(index), bytesOf(indexOf(list)));
      }),
      { numRuns: 300 },
    );
  });

  it('have exact sums and maxima per key', () => {
    fc.assert(
      fc.property(fc.array(good, { maxLength: 12 }), (list) => {
        const expected = oracle(list);
        const needs = needsOf(indexOf(list));
        assert.equal(needs.length, expected.size);
        for (const need of needs) {
          const row = expected.get(`${fingerprintOf(need)}\n${need.group}`);
          assert.ok(row !== undefined, 'a row that nobody asked for');
          const names = [...row.keys()].sort();
          assert.deepEqual(Object.keys(need.aggregateResources).sort(), names);
          assert.deepEqual(Object.keys(need.minUnit).sort(), names);
          for (const [name, amounts] of row) {
            const sum = amounts.reduce((a, b) => a + b, 0n);
            const max = amounts.reduce((a, b) => (a > b ? a : b), 0n);
            assert.equal(nanosOf(own(need.aggregateResources, name)), roundedUp(sum));
            assert.equal(nanosOf(own(need.minUnit, name)), roundedUp(max));
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('are the same with and without refused and foreign requests', () => {
    fc.assert(
      fc.property(
        fc.array(good, { maxLength: 8 }),
        fc.array(bad, { minLength: 1, maxLength: 4 }),
        (list, refused) => {
          const foreign = list.map((one) => ({ ...one, uid: `f-${one.uid}`, isForeign: true }));
          const index = indexOf([...refused, ...list, ...foreign]);
          assert.equal(bytesOf(index), bytesOf(indexOf(list)));
          assert.equal(index.rollup().refused.length, refused.length);
          assert.equal(index.rollup().foreignCount, foreign.length);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('carry a group exactly on needs with Same', () => {
    fc.assert(
      fc.property(fc.array(good, { maxLength: 12 }), (list) => {
        for (const { group, requirements } of needsOf(indexOf(list))) {
          assert.equal(
            group !== '',
            requirements.some(({ operator }) => operator === 5),
          );
          assert.ok(group === '' || /^g-[0-9a-f]{32}$/.test(group));
        }
      }),
      { numRuns: 200 },
    );
  });
});

function own(map: { readonly [name: string]: string }, name: string): string {
  assert.ok(Object.hasOwn(map, name));
  return map[name] ?? '';
}

/** As the shard computes it from what arrived. */
function fingerprintOf(need: ReturnType<typeof decodeNeeds>[number]): string {
  const requirements = need.requirements.map(({ key, operator, values }) => {
    assert.ok(isOperatorCode(operator));
    return { key, operator, values };
  });
  return createProfile({
    requirements,
    spread: need.spread,
    priority: need.priority,
    interruptionBucket: need.interruptionPenaltyBucket as number as PenaltyBucket,
    reclamationBucket: need.reclamationPenaltyBucket as number as PenaltyBucket,
  }).fingerprint;
}
