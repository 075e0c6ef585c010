// Proves that no seed makes a check blame a correct provider: the black-box lane with other seeds
// and other speeds of the substrate, each on a fresh pool. BIGFLEET_LONG_MS bounds the file.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { KitSubject } from '../harness/testing/kit-subject.ts';
import { createTime, createWorld } from '../harness/testing/world.ts';
import { behaviourOf } from '../catalogue/catalogue.ts';
import { laneOf } from '../run/lane-names.ts';
import { allChecks } from './index.ts';

const TIME_BOX_MS = Number(process.env['BIGFLEET_LONG_MS'] ?? 60_000);
const MAX_WORK_MS = 250;

const blackBoxChecks = allChecks.filter(({ id }) => laneOf(behaviourOf(id)) === 'extension');
const { clock, entropy } = realRuntime();
const first = BigInt(process.env['BIGFLEET_SEED'] ?? entropy.bytes(4).join(''));

test(`seeds from ${first} on find no fault in a correct provider`, async (t) => {
  const endMs = clock.monotonicMs() + TIME_BOX_MS;
  let seed = first;
  for (; seed === first || clock.monotonicMs() < endMs; seed++) {
    const random = createRandom(seed);
    const hasDelete = random.below(4) > 0;
    const workMs = random.below(3) === 0 ? 0 : random.below(MAX_WORK_MS);
    const time = createTime(seed);
    const world = await createWorld(new KitSubject(time, { workMs, hasDelete }), time);
    const capabilities = { delete: hasDelete, sinceRevision: true };
    for (const check of blackBoxChecks) {
      const outcome = await world.judge(check, { seed, capabilities });
      const where = `${check.id}, seed ${seed}: ${JSON.stringify(outcome)}`;
      if (outcome.kind === 'skipped') assert.equal(outcome.skip, 'capability-absent', where);
      else assert.equal(outcome.kind, 'passed', where);
    }
    world.close();
  }
  t.diagnostic(`${seed - first} seeds`);
});
