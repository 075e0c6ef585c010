// Proves that lists of bound machines are bounded whatever the fleet, exact for what Phase 2 ranked,
// shared by needs that found the same, and absent where Phase 2 was not asked.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadEngine } from '../cycle/plain.ts';
import { decide } from '../explain/testing/decide.ts';
import { cores, fleet, machines, need } from '../testing/build.ts';
import { MAX_CANDIDATES, MAX_NAMED_VICTIMS, MAX_SCANNED_VICTIMS } from './format.ts';

const low = need({ cluster: 'l', wants: cores(5000), priority: 1 });
const high = need({ cluster: 'h', wants: cores(5000), priority: 9 });

/** Ids are short: what is left of a row's bytes is its numbers. */
const BYTES_PER_LIST = 700;

test('of thousands of machines that are safe some are looked at, and the list says so', () => {
  const bound = machines(5000, 'm', { state: 'Configured', serves: high });
  const short = need({ cluster: 'a', wants: cores(1), priority: 5 });
  const { record } = decide(fleet({ machines: bound, needs: [high, short] }));
  const [recorded] = record.needs;
  assert.deepEqual(
    recorded?.victims.map(({ code, leftCount, machineIds }) => [
      code,
      leftCount,
      machineIds.length,
    ]),
    [['victim_priority_not_lower', MAX_SCANNED_VICTIMS, MAX_NAMED_VICTIMS]],
  );
  assert.equal(recorded?.isVictimsTruncated, true);
});

test('of thousands of machines that Phase 2 ranks every one is counted', () => {
  const bound = machines(5000, 'm', { state: 'Configured', serves: low });
  const short = need({ cluster: 'a', wants: cores(7), priority: 5 });
  const { record } = decide(fleet({ machines: bound, needs: [low, short] }));
  const recorded = record.needs.find(({ cluster }) => cluster === 'a');
  assert.deepEqual(
    recorded?.victims.map(({ code, chosenCount, leftCount }) => [code, chosenCount, leftCount]),
    [
      ['chosen', 7, 0],
      ['victim_score_lower', 0, 4993],
    ],
  );
  assert.equal(recorded?.isVictimsTruncated, false);
});

test('the named ones are the lowest ids', () => {
  const bound = machines(20, 'm', { state: 'Configured', serves: high }).reverse();
  const short = need({ cluster: 'a', wants: cores(1), priority: 5 });
  const { record } = decide(fleet({ machines: bound, needs: [high, short] }));
  const recorded = record.needs.find(({ cluster }) => cluster === 'a');
  assert.deepEqual(recorded?.victims[0]?.machineIds, ['m1', 'm10', 'm11']);
});

test('kinds beyond the limit are left out, bytes stay bounded, and the list says so', () => {
  const kinds = Array.from({ length: 40 }, (_, at) =>
    machines(3, `k${at}-`, { state: 'Configured', serves: high, type: `type-${at}` }),
  );
  const sized = (count: number): number => {
    const needs = Array.from({ length: count }, (_, at) =>
      need({ cluster: 'a', wants: cores(1), priority: -at }),
    );
    const { bytes, record } = decide(fleet({ machines: kinds.flat(), needs: [high, ...needs] }));
    const short = record.needs.filter(({ cluster }) => cluster === 'a');
    assert.equal(short.length, count);
    for (const { victims, isVictimsTruncated } of short) {
      assert.deepEqual([victims.length, isVictimsTruncated], [MAX_CANDIDATES, true]);
    }
    return bytes.length;
  };
  const perList = (sized(20) - sized(10)) / 10;
  assert.ok(perList <= BYTES_PER_LIST, `${perList} bytes per need with a list of its own`);
});

test('needs of one profile that found no victim share one list', () => {
  const bound = machines(30, 'm', { state: 'Configured', serves: high });
  const sized = (count: number): number => {
    const needs = Array.from({ length: count }, (_, at) =>
      need({ cluster: `c${at}`, wants: cores(1), priority: 5 }),
    );
    const { bytes, record } = decide(fleet({ machines: bound, needs: [high, ...needs] }));
    const short = record.needs.filter(({ cluster }) => cluster !== 'h');
    assert.ok(short.every(({ victims }) => victims[0]?.leftCount === 30));
    return bytes.length;
  };
  const perNeed = (sized(200) - sized(100)) / 100;
  assert.ok(perNeed <= 30, `${perNeed} bytes per further need`);
});

test('without short needs, and without records, nothing is listed', () => {
  const bound = machines(3, 'm', { state: 'Configured', serves: low });
  const covered = need({ cluster: 'a', wants: cores(1), priority: 5 });
  const idle = machines(1, 'i', {});
  const { record } = decide(fleet({ machines: [...bound, ...idle], needs: [covered] }));
  assert.deepEqual(
    record.needs.map(({ victims }) => victims),
    [[]],
  );
  const input = fleet({ machines: bound, needs: [covered] });
  const engine = loadEngine(input);
  engine.hasRecords = false;
  engine.cycle({ nowMs: input.nowMs });
  assert.equal(engine.record.length, 0);
  assert.equal(engine.actions.length > 0, true);
});
