// Proves that a spec of any shape is demand or a refusal with a code and a short reason, and never a
// throw; and that one such request changes nothing for the others.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { requestRefusals } from '@bigfleet/base';
import type { CapacityRequestSpec } from '@bigfleet/kube';
import fc from 'fast-check';
import { DemandIndex } from './demand-index.ts';
import { readRequest } from './read-request.ts';
import { readSpec } from './read-spec.ts';
import { encodeRollup } from './rollup.ts';
import { request } from './testing/requests.ts';

const seed = Number(process.env['BIGFLEET_SEED'] ?? 1);

function refusal(spec: unknown): string {
  const read = readSpec(spec);
  assert.ok(!read.ok, JSON.stringify(read));
  return `${read.error.reason}: ${read.error.problem}`;
}

describe('shapes that are none', () => {
  const base = { priority: 1, resources: {} };
  const cases: [unknown, string][] = [
    [undefined, 'bad_quantity: spec is missing'],
    [null, 'bad_quantity: spec is missing'],
    ['x', 'bad_quantity: spec is missing'],
    [[], 'bad_quantity: spec is missing'],
    [{ resources: {} }, 'bad_quantity: priority is missing'],
    [{ priority: 1 }, 'bad_quantity: resources is missing'],
    [{ ...base, priority: null }, 'bad_quantity: priority is missing'],
    [{ ...base, priority: '5' }, 'bad_quantity: priority "5" is no number'],
    [{ ...base, resources: [] }, 'bad_quantity: resources [] is no object'],
    [{ ...base, resources: { cpu: {} } }, 'bad_quantity: resources.cpu {} is no quantity'],
    [
      { ...base, interruptionPenalty: true },
      'bad_penalty: interruptionPenalty true is no quantity',
    ],
    [{ ...base, requirements: {} }, 'unsupported_operator: requirements {} is no list'],
    [{ ...base, requirements: [null] }, 'unsupported_operator: requirements[0] null is no object'],
    [
      { ...base, requirements: [{ key: 'a' }] },
      'unsupported_operator: requirements[0].operator is missing',
    ],
    [
      { ...base, requirements: [{ key: 'a', operator: 'In', values: [1] }] },
      'unsupported_operator: requirements[0].values[0] 1 is no text',
    ],
    [{ ...base, topologySpread: [{}] }, 'bad_quantity: topologySpread[0].topologyKey is missing'],
    [{ ...base, coLocation: {} }, 'unsupported_operator: coLocation.topologyKey is missing'],
    [
      { ...base, coLocation: { topologyKey: 'a', labelSelector: { matchLabels: { a: 1 } } } },
      'unsupported_operator: coLocation.labelSelector.matchLabels.a 1 is no text',
    ],
  ];
  for (const [spec, expected] of cases) {
    it(JSON.stringify(spec) ?? 'nothing', () => assert.equal(refusal(spec), expected));
  }
});

it('null is absent, and fields of a newer schema are left alone', () => {
  const spec = {
    priority: 1,
    resources: { cpu: '1', memory: null },
    requirements: null,
    coLocation: null,
    tier: 'gold',
    topologySpread: [
      { topologyKey: 'z', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', minDomains: 3 },
    ],
  };
  assert.deepEqual(readSpec(spec), {
    ok: true,
    value: {
      priority: 1,
      resources: { cpu: '1' },
      topologySpread: [{ topologyKey: 'z', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }],
    },
  });
});

it('a reason stays short and keeps nothing of ten million digits', () => {
  const digits = '9'.repeat(10_000_000);
  const read = readRequest({
    namespace: 'default',
    spec: { priority: 1, resources: { cpu: digits } },
  });
  assert.ok(!read.ok);
  assert.match(read.error.problem, /^resources\["cpu"\] "9{80,110}… is no quantity$/);
});

/** Numbers as JSON can hold them: 1e400 is read as Infinity. */
const anyNumber = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(JSON.parse('1e400') as number, -1, -0, 2 ** 31, 1e21, Number.NaN),
);
const quantity = fc.oneof(
  anyNumber,
  fc.string(),
  fc.constantFrom('1', '-1', '1e400', '1e-400', '1e', '9'.repeat(65), '1Zi', '0x10', '1_000', '∞'),
  fc.constantFrom('+', '.', '1.', '.5', '1e1000000000000', '8E', '16Ei', '99999999Ei', ' 1', '1 '),
);
const text = fc.oneof(
  fc.string(),
  fc.constantFrom(
    'In',
    'NotIn',
    'Exists',
    'DoesNotExist',
    'Gt',
    'Lt',
    'Same',
    'in',
    '',
    '__proto__',
  ),
);
const odd = fc.jsonValue({ maxDepth: 3 });
const list = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof(fc.array(fc.oneof(one, odd), { maxLength: 3 }), odd);
const fields = (shape: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> =>
  fc.oneof(fc.record(shape, { requiredKeys: [] }), odd);
const requirement = fields({ key: text, operator: text, values: list(text) });
const anySpec = fields({
  priority: fc.oneof(anyNumber, odd),
  resources: fc.oneof(fc.dictionary(text, quantity, { maxKeys: 3 }), odd),
  requirements: list(requirement),
  interruptionPenalty: fc.oneof(quantity, odd),
  reclamationPenalty: fc.oneof(quantity, odd),
  topologySpread: list(
    fields({
      topologyKey: text,
      maxSkew: fc.oneof(anyNumber, odd),
      whenUnsatisfiable: fc.constantFrom('DoNotSchedule', 'ScheduleAnyway', 'x'),
    }),
  ),
  coLocation: fields({
    topologyKey: text,
    labelSelector: fields({
      matchLabels: fc.oneof(fc.dictionary(text, text, { maxKeys: 2 }), odd),
      matchExpressions: list(requirement),
    }),
  }),
});

it(`any specs beside a good one: none throws, and the good one's need stands (seed ${seed})`, () => {
  const good = request({ uid: 'good', spec: { priority: 2_000_000_001, resources: { cpu: '3' } } });
  const codes = new Set<string>(Object.keys(requestRefusals));
  const seen = new Set<string>();
  fc.assert(
    fc.property(fc.array(anySpec, { minLength: 1, maxLength: 5 }), (specs) => {
      const index = new DemandIndex();
      index.set(good);
      for (const [at, spec] of specs.entries()) {
        index.set({ ...request({ uid: `u${at}` }), spec: spec as CapacityRequestSpec });
      }
      const { needs, refused } = index.rollup();
      for (const { refusal: one } of refused) {
        assert.ok(codes.has(one.reason) && one.problem.length < 400, JSON.stringify(one));
        seen.add(one.reason);
      }
      seen.add(refused.length < specs.length ? 'taken in' : 'all refused');
      const [need] = needs.filter(({ profile }) => profile.priority === 2_000_000_001);
      assert.equal(need?.aggregateResources.get('cpu'), '3');
      // An absurd value that is valid must not make the roll-up unsendable.
      assert.ok(encodeRollup('c', 1n, needs).length > 0);
    }),
    { seed, numRuns: 3_000 },
  );
  assert.deepEqual(
    seen,
    new Set(['unsupported_operator', 'bad_quantity', 'bad_penalty', 'taken in', 'all refused']),
  );
});
