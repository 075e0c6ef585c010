// Proves that the record of a long-lived engine says what a fresh one says of the same state:
// nothing in it comes from an earlier cycle.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import type { Engine } from '../../cycle/engine.ts';
import { loadEngine } from '../../cycle/plain.ts';
import type { CycleInput } from '../../model/cycle.ts';
import { decodeRecord } from '../../record/decode.ts';
import {
  type DecisionRecord,
  MAX_CANDIDATES,
  MAX_CANDIDATES_COVERED,
  type RecordedNeed,
} from '../../record/format.ts';
import { cores, fleet, machine, need } from '../build.ts';
import { randomFleet } from '../generate.ts';
import { follow } from './steps.ts';

const RUNS = Number(process.env['BIGFLEET_RUNS'] ?? 100);
const FIRST = Number(process.env['BIGFLEET_SEED'] ?? 1);
const STEPS = 5;
const CLUSTERS = ['a', 'b', 'c', 'd'];

test('a machine that was taken in an earlier cycle is no candidate any more', () => {
  const served = need({ cluster: 'a', wants: cores(1), priority: 9 });
  const short = need({ cluster: 'b', wants: cores(1) });
  const needs = [served, short];
  const records: DecisionRecord[] = [];
  follow(
    [
      fleet({ machines: [machine({ id: 'm' })], needs }),
      fleet({ machines: [machine({ id: 'm', state: 'Configured', serves: served })], needs }),
    ],
    (engine) => records.push(recordOf(engine)),
  );
  assert.deepEqual(
    records.map((record) => record.needs.map(({ candidates }) => candidates.map((c) => c.code))),
    [[['chosen'], ['claimed_higher_precedence']], [[]]],
  );
});

test(`records of later cycles equal those of fresh engines over ${RUNS} runs`, () => {
  for (let seed = FIRST; seed < FIRST + RUNS; seed++) {
    const random = createRandom(`later-${seed}`);
    const states = Array.from({ length: STEPS }, (_, step) =>
      memorable(randomFleet(random.stream(`fleet-${step}`))),
    );
    follow(states, (engine, input) => {
      const fresh = loadEngine(input);
      fresh.cycle({ nowMs: input.nowMs, quotaRemaining: input.quotaRemaining });
      assert.deepEqual(comparable(recordOf(engine)), comparable(recordOf(fresh)), `seed ${seed}`);
    });
  }
});

/** Without what an engine remembers of earlier states on purpose. */
function memorable(input: CycleInput): CycleInput {
  return {
    ...input,
    needs: input.needs.map((each) => ({ ...each, arrivalUnixNanos: 1n })),
    reportedClusters: new Set(CLUSTERS),
  };
}

function recordOf(engine: Engine): DecisionRecord {
  const decoded = decodeRecord(engine.record);
  assert.ok(decoded.ok, 'a fresh record must be readable');
  return decoded.value;
}

/**
 * Cycle and digest are of the history. Classes of equal cost are told in the order in which the
 * engine met them, so candidates compare as a set, and only where the limit cut none of them off.
 */
function comparable({ needs, actions }: DecisionRecord): unknown {
  return { needs: needs.map(withSortedCandidates), actions };
}

function withSortedCandidates(recorded: RecordedNeed): unknown {
  const { candidates, victims, ...facts } = recorded;
  const limit = recorded.isSatisfied ? MAX_CANDIDATES_COVERED : MAX_CANDIDATES;
  return {
    ...facts,
    candidates: candidates.length >= limit ? undefined : sorted(candidates),
    victims: recorded.isVictimsTruncated ? undefined : sorted(victims),
  };
}

function sorted(rows: readonly object[]): string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}
