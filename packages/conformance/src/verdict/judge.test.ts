// Proves the verdict table of conformance §6 and the three rules of ours that close its holes:
// typed skips, lanes that produced nothing, and a baseline that must be complete.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Profile } from '../catalogue/behaviour.ts';
import type { LaneReport, SuiteRun } from '../run/result.ts';
import {
  absent,
  baselineReport,
  cleanBaseline,
  failed,
  laneReport,
  notAsked,
  passed,
  result,
  suiteRun,
  unmet,
} from '../run/testing/runs.ts';
import { type BehaviourJudgement, judge, type Verdict } from './judge.ts';

const rest: readonly LaneReport[] = [notAsked('fault'), notAsked('durable'), notAsked('scale')];

interface Case {
  readonly name: string;
  readonly run: Partial<SuiteRun>;
  readonly verdict: Verdict;
  readonly certified: readonly Profile[];
}

function extensionWith(outcomes: Parameters<typeof laneReport>[1]): Partial<SuiteRun> {
  return { lanes: [cleanBaseline, laneReport('extension', outcomes), ...rest] };
}

const cases: readonly Case[] = [
  { name: 'all clean', run: {}, verdict: 'CERTIFIED', certified: ['core'] },
  {
    name: 'a required behaviour failed',
    run: extensionWith({ B203: failed }),
    verdict: 'FAILED',
    certified: [],
  },
  {
    name: 'a required behaviour has no result',
    run: extensionWith({ B203: undefined }),
    verdict: 'INCOMPLETE',
    certified: [],
  },
  {
    name: 'failed beats missing',
    run: extensionWith({ B203: undefined, B204: failed }),
    verdict: 'FAILED',
    certified: [],
  },
  {
    name: 'an absent capability is a pass',
    run: extensionWith({ B109: absent, B903: absent }),
    verdict: 'CERTIFIED',
    certified: ['core'],
  },
  {
    name: 'too few machines is not',
    run: extensionWith({ B302: unmet }),
    verdict: 'INCOMPLETE',
    certified: [],
  },
  {
    name: 'a failure in the baseline',
    run: {
      lanes: [
        baselineReport([...Array.from({ length: 24 }, () => passed), failed]),
        laneReport('extension'),
        ...rest,
      ],
    },
    verdict: 'FAILED',
    certified: [],
  },
  {
    name: 'a baseline that reports too few checks',
    run: {
      lanes: [
        baselineReport(Array.from({ length: 24 }, () => passed)),
        laneReport('extension'),
        ...rest,
      ],
    },
    verdict: 'INCOMPLETE',
    certified: [],
  },
  {
    name: 'a baseline that found no machines',
    run: {
      lanes: [
        baselineReport([...Array.from({ length: 24 }, () => passed), unmet]),
        laneReport('extension'),
        ...rest,
      ],
    },
    verdict: 'INCOMPLETE',
    certified: [],
  },
  {
    name: 'the baseline was left out on purpose',
    run: { lanes: [notAsked('baseline'), laneReport('extension'), ...rest] },
    verdict: 'CERTIFIED',
    certified: ['core'],
  },
  {
    name: 'the baseline produced nothing',
    run: {
      lanes: [
        { kind: 'broken', lane: 'baseline', problem: 'unreachable' },
        laneReport('extension'),
        ...rest,
      ],
    },
    verdict: 'INCOMPLETE',
    certified: [],
  },
  {
    name: 'a claimed lane produced nothing',
    run: {
      profiles: ['core', 'durable'],
      lanes: [
        cleanBaseline,
        laneReport('extension'),
        notAsked('fault'),
        { kind: 'broken', lane: 'durable', problem: 'did not boot' },
        notAsked('scale'),
      ],
    },
    verdict: 'INCOMPLETE',
    certified: ['core'],
  },
  {
    name: 'a lane ended early after all of its checks had results',
    run: {
      lanes: [
        cleanBaseline,
        { ...laneReport('extension'), kind: 'ran', problem: 'lost' } as LaneReport,
        ...rest,
      ],
    },
    verdict: 'INCOMPLETE',
    certified: [],
  },
  {
    name: 'one claimed profile failed, the other holds',
    run: {
      profiles: ['core', 'fault'],
      lanes: [
        cleanBaseline,
        laneReport('extension'),
        laneReport('fault', { B704: failed }),
        notAsked('durable'),
        notAsked('scale'),
      ],
    },
    verdict: 'FAILED',
    certified: ['core'],
  },
  {
    name: 'what nobody claimed may fail',
    run: {
      lanes: [
        cleanBaseline,
        laneReport('extension'),
        laneReport('fault', { B704: failed }),
        notAsked('durable'),
        notAsked('scale'),
      ],
    },
    verdict: 'CERTIFIED',
    certified: ['core'],
  },
  {
    name: 'the second run of the scale lane failed',
    run: {
      profiles: ['core', 'scale'],
      lanes: [
        cleanBaseline,
        laneReport('extension'),
        laneReport('scale'),
        laneReport('scale', { B1106: failed }),
      ],
    },
    verdict: 'FAILED',
    certified: ['core'],
  },
  {
    name: 'bare-metal asserts what core asserts, also when claimed alone',
    run: { profiles: ['bare-metal'], ...extensionWith({ B101: failed }) },
    verdict: 'FAILED',
    certified: [],
  },
  {
    name: 'every profile',
    run: {
      profiles: ['fault', 'scale', 'spot', 'cloud', 'durable', 'core'],
      lanes: [
        cleanBaseline,
        ...(['extension', 'fault', 'durable', 'scale'] as const).map((lane) => laneReport(lane)),
      ],
    },
    verdict: 'CERTIFIED',
    certified: ['core', 'cloud', 'spot', 'scale', 'durable', 'fault'],
  },
  { name: 'nothing ran at all', run: { lanes: [] }, verdict: 'INCOMPLETE', certified: [] },
];

for (const { name, run, verdict, certified } of cases) {
  test(`${name}: ${verdict}`, () => {
    const judgement = judge(suiteRun(run));
    assert.equal(judgement.verdict, verdict);
    assert.deepEqual(judgement.certified, certified);
  });
}

test('an empty provider is never certified', () => {
  const everythingUnmet = Object.fromEntries(
    judge(suiteRun()).behaviours.map(({ behaviour }) => [behaviour.id, unmet]),
  );
  const judgement = judge(suiteRun(extensionWith(everythingUnmet)));
  assert.equal(judgement.verdict, 'INCOMPLETE');
  assert.equal(judgement.requiredMissingCount, 69);
});

test('failed beats passed beats skipped over all results of a behaviour', () => {
  const statusOf = (...outcomes: Parameters<typeof result>[1][]): string => {
    const results = outcomes.map((outcome) => result('B101', outcome));
    const lane: LaneReport = { kind: 'ran', lane: 'extension', judged: 'x', results };
    return entry(suiteRun({ lanes: [lane] }), 'B101').status;
  };
  assert.equal(statusOf(), 'not_implemented');
  assert.equal(statusOf(absent), 'skipped');
  assert.equal(statusOf(absent, passed), 'passed');
  assert.equal(statusOf(passed, unmet), 'passed');
  assert.equal(statusOf(passed, failed, absent), 'failed');
});

test('a behaviour without a result says what is missing', () => {
  const lanes: LaneReport[] = [
    { kind: 'broken', lane: 'extension', problem: 'does not answer' },
    notAsked('fault', 'needs --fault-target'),
  ];
  assert.equal(entry(suiteRun({ lanes }), 'B101').missing, 'does not answer');
  assert.equal(entry(suiteRun({ lanes }), 'B701').missing, 'needs --fault-target');
  assert.equal(entry(suiteRun({ lanes: [] }), 'B101').missing, 'the suite has no test for it');
  const only = suiteRun({ only: new Set(['B103']), lanes });
  assert.equal(entry(only, 'B101').missing, 'not selected by --only');
  assert.equal(entry(only, 'B103').missing, 'does not answer');
  assert.equal(entry(suiteRun(), 'B101').missing, undefined);
});

test('required follows from the claimed profiles', () => {
  const requiredCount = (profiles: readonly Profile[]): number =>
    judge(suiteRun({ profiles })).behaviours.filter(({ required }) => required).length;
  assert.equal(requiredCount(['core']), 69);
  assert.equal(requiredCount(['cloud']), 5);
  assert.equal(requiredCount(['spot']), 1);
  assert.equal(requiredCount(['bare-metal']), 69);
  assert.equal(requiredCount(['core', 'cloud', 'spot', 'fault', 'durable', 'scale']), 93);
});

function entry(run: SuiteRun, id: string): BehaviourJudgement {
  const found = judge(run).behaviours.find(({ behaviour }) => behaviour.id === id);
  assert.ok(found !== undefined);
  return found;
}
