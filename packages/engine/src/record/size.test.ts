// Proves that a record is bounded by what it mentions, never by the fleet: so many bytes per
// action and per unmet need, and next to nothing for a cycle that decides nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { decide } from '../explain/testing/decide.ts';
import type { Need } from '../model/need.ts';
import { Operator } from '../model/requirement.ts';
import { cores, fleet, machine, machines, need } from '../testing/build.ts';
import { randomFleet } from '../testing/generate.ts';

const FLEETS = Number(process.env['BIGFLEET_FLEETS'] ?? 1000);
const HEADER_BYTES = 48;
/** Ids of the fleets here have at most 7 bytes. */
const BYTES_PER_ACTION = 24;
/** Fingerprint and eight candidates of eight classes that nobody else mentions. */
const BYTES_PER_NEED = 640;
/** Once the classes are known: the profile, the deficit and eight rows. */
const MARGINAL_BYTES_PER_NEED = 160;

test(`records of ${FLEETS} small fleets keep their bound`, () => {
  let worst = 0;
  for (let seed = 1; seed <= FLEETS; seed++) {
    const { bytes, record } = decide(randomFleet(createRandom(`size-${seed}`)));
    const { actions, needs } = record;
    // Reclaims and releases may mention a class each; acquisitions share those of their need.
    const bound =
      HEADER_BYTES + actions.length * (BYTES_PER_ACTION + 48) + needs.length * BYTES_PER_NEED;
    assert.ok(bytes.length <= bound, `seed ${seed}: ${bytes.length} bytes, bound ${bound}`);
    worst = Math.max(worst, (bytes.length - HEADER_BYTES) / (actions.length + needs.length || 1));
  }
  console.log(`# at most ${worst.toFixed(0)} bytes per mentioned action or need`);
});

test('a further action costs its id and a few bytes', () => {
  const sized = (count: number): number =>
    decide(fleet({ needs: [need({ wants: cores(count) })], machines: machines(2000, 'm', {}) }))
      .bytes.length;
  const perAction = (sized(2000) - sized(1000)) / 1000;
  console.log(`# ${perAction.toFixed(1)} bytes per further action`);
  assert.ok(perAction <= BYTES_PER_ACTION, String(perAction));
});

test('a further unmet need among 2,000 machines costs its profile and eight rows', () => {
  const shapes = Array.from({ length: 40 }, (_, at) => ({ type: `type-${at}`, price: 1 + at }));
  const pool = shapes.flatMap((shape, at) => machines(50, `m${at}-`, { ...shape }));
  const sized = (count: number): number => {
    const { bytes, record } = decide(fleet({ needs: unmetNeeds(count), machines: pool }));
    assert.equal(record.needs.filter(({ isSatisfied }) => !isSatisfied).length, count);
    assert.ok(record.needs.every(({ candidates }) => candidates.length === 8));
    return bytes.length;
  };
  const perNeed = (sized(400) - sized(200)) / 200;
  console.log(`# ${perNeed.toFixed(1)} bytes per further unmet need, its profile included`);
  assert.ok(perNeed <= MARGINAL_BYTES_PER_NEED, String(perNeed));
});

test('a fleet of 2,000 machines that has what it needs is a line', () => {
  const served = Array.from({ length: 20 }, (_, at) =>
    need({ cluster: `cluster-${at}`, wants: cores(100), priority: at }),
  );
  const bound = served.flatMap((serves, at) =>
    machines(100, `m${at}-`, { state: 'Configured', serves }),
  );
  const { bytes, record } = decide(fleet({ needs: served, machines: bound }));
  assert.deepEqual([record.actions, record.needs], [[], []]);
  assert.ok(bytes.length <= HEADER_BYTES, `${bytes.length} bytes`);
});

test('a busy fleet of 2,000 machines', () => {
  const needs = Array.from({ length: 200 }, (_, at) =>
    need({ cluster: `cluster-${at % 20}`, wants: cores(12), unit: cores(1), priority: at }),
  );
  const pool = Array.from({ length: 2000 }, (_, at) =>
    machine({ id: `m-${at}`, type: `type-${at % 12}`, zone: `z${at % 3}`, price: 1 + (at % 12) }),
  );
  const { bytes, record } = decide(fleet({ needs, machines: pool }));
  const { actions, needs: mentioned } = record;
  const unmet = mentioned.filter(({ isSatisfied }) => !isSatisfied).length;
  console.log(
    `# ${bytes.length} bytes for ${actions.length} actions, ${mentioned.length} needs, ${unmet} unmet`,
  );
  assert.equal(actions.length, 2000);
  assert.ok(unmet > 0);
  const bound =
    HEADER_BYTES + actions.length * BYTES_PER_ACTION + mentioned.length * MARGINAL_BYTES_PER_NEED;
  assert.ok(bytes.length <= bound, `${bytes.length} bytes, bound ${bound}`);
});

/** Each with a profile of its own and a resource that no machine has. */
function unmetNeeds(count: number): Need[] {
  return Array.from({ length: count }, (_, at) =>
    need({
      cluster: `cluster-${at % 20}`,
      wants: new Map([['example.com/fpga', 1000]]),
      requirements: [{ key: 'pool', operator: Operator.NotIn, values: [`pool-${at}`] }],
    }),
  );
}
