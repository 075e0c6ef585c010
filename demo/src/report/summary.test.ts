// Proves what the summary says of two shards and two providers together and what makes a run a failure: nothing
// covered, a need forgotten, no interruption, no failure, no move between the shards.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExposition } from '@bigfleet/telemetry';
import { MachineState } from '@bigfleet/wire';
import type { CoverageReport } from '../feed/coverage.ts';
import { FleetPicture } from '../feed/fleet-picture.ts';
import { delta, snapshot } from '../feed/testing/frames.ts';
import type { Transfer } from '../fleet/watch-transfers.ts';
import type { ClusterScene } from '../view/scene.ts';
import { Counters } from './counters.ts';
import { sumCoverage, summarise, type Summary } from './summary.ts';

const good: CoverageReport = {
  seenCount: 5,
  coveredCount: 4,
  unsatisfiableCount: 1,
  neverCovered: [],
  unmetTooLong: [],
};

const cluster: ClusterScene = {
  id: 'web-eu',
  shard: 'shard-0',
  isConnected: true,
  runningCount: 30,
  pendingCount: 2,
  requestCount: 32,
  acknowledgedCount: 31,
  nodeCount: 12,
  upcomingCount: 1,
};

function counters(...lines: readonly string[]): Counters {
  const parsed = parseExposition(`${lines.join('\n')}\n`);
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.error.reason);
  return new Counters(parsed.value);
}

function counter(name: string, ...samples: readonly string[]): readonly string[] {
  return [`# HELP ${name} Help.`, `# TYPE ${name} counter`, ...samples];
}

function summaryOf(changes: {
  readonly coverage?: Partial<CoverageReport>;
  readonly interruptions?: number;
  readonly failures?: number;
  readonly cycles?: number;
  readonly phase?: Transfer['phase'];
  readonly expectsMove?: boolean;
  readonly cluster?: Partial<ClusterScene>;
}): Summary {
  const { interruptions = 1, failures = 2, cycles = 30, phase = 'DONE' } = changes;
  const picture = new FleetPicture();
  for (const part of snapshot([{ id: 'sim-north/m-1', state: MachineState.CONFIGURED }], [])) {
    picture.apply(part);
  }
  picture.apply(delta({ cycle: 30, dollarsPerHour: 12.345 }));
  return summarise({
    seed: '7',
    profile: 'small',
    tried: ['scale'],
    shardRestarts: 1,
    ranMs: 30_400,
    coverage: { ...good, ...changes.coverage },
    transfers: [{ id: 't-1', from: 'shard-1', to: 'shard-0', phase, machineCount: 2 }],
    clusters: [{ ...cluster, ...changes.cluster }],
    expectsMove: changes.expectsMove ?? true,
    shards: [
      { name: 'shard-0', picture, counters: shardCounters(cycles) },
      { name: 'shard-1', picture: new FleetPicture(), counters: shardCounters(0) },
    ],
    providers: [
      counters(
        ...counter(
          'bigfleet_simulated_interruptions_total',
          `bigfleet_simulated_interruptions_total ${interruptions}`,
        ),
      ),
      counters(
        ...counter(
          'bigfleet_simulated_failures_total',
          `bigfleet_simulated_failures_total ${failures}`,
        ),
      ),
    ],
  });
}

function shardCounters(cycles: number): Counters {
  const actions = 'bigfleet_shard_actions_total';
  const duration = 'bigfleet_shard_cycle_duration_seconds';
  return counters(
    ...counter('bigfleet_shard_cycles_total', `bigfleet_shard_cycles_total ${cycles}`),
    ...counter(actions, `${actions}{kind="Provision"} 7`, `${actions}{kind="Reclaim"} 2`),
    `# HELP ${duration} Help.`,
    `# TYPE ${duration} histogram`,
    ...['0.016 20', '0.032 30', '0.064 30', '+Inf 30'].map((bucket) => {
      const [bound, count] = bucket.split(' ');
      return `${duration}_bucket{le="${bound}"} ${count}`;
    }),
    `${duration}_sum 0.5`,
    `${duration}_count 30`,
  );
}

test('a good run has no problems and says what happened', () => {
  const { machinesByState, needs, ...rest } = summaryOf({});
  assert.equal(machinesByState['Configured'], 1);
  assert.equal(machinesByState['Failed'], 0);
  assert.deepEqual(needs, good);
  assert.deepEqual(rest, {
    seed: '7',
    profile: 'small',
    seconds: 30,
    machinesByProvider: { 'sim-north': { Configured: 1 } },
    dollarsPerHour: 12.35,
    shortfalls: 0,
    machinesByShard: { 'shard-0': 1, 'shard-1': 0 },
    transfers: { done: 1, open: 0, aborted: 0 },
    actionsByKind: { Provision: 14, Reclaim: 4 },
    cycles: 30,
    worstCycleAtMostMs: 32,
    pods: { 'web-eu': { running: 30, pending: 2, requests: 32, acknowledged: 31 } },
    interruptions: 1,
    failures: 2,
    tried: ['scale'],
    shardRestarts: 1,
    problems: [],
  });
});

test('each thing that was not shown is a problem', () => {
  const cases: readonly [Parameters<typeof summaryOf>[0], RegExp][] = [
    [{ coverage: { coveredCount: 0 } }, /no need was ever covered/],
    [{ coverage: { neverCovered: ['web-eu priority 100'] } }, /never covered: web-eu/],
    [{ coverage: { unmetTooLong: ['web-eu priority 100'] } }, /unmet for too long: web-eu/],
    [{ interruptions: 0 }, /no spot interruption/],
    [{ failures: 0 }, /no transition failed/],
    [{ cycles: 0 }, /no cycle ran/],
    [{ cluster: { runningCount: 0 } }, /no Pod runs in web-eu/],
    [{ cluster: { acknowledgedCount: 0 } }, /no CapacityRequest of web-eu is acknowledged/],
    [{ phase: 'COMMITTED' }, /no machine moved/],
    [{ phase: 'ABORTED' }, /no machine moved/],
  ];
  for (const [changes, problem] of cases) {
    const { problems } = summaryOf(changes);
    assert.equal(problems.length, 1, problems.join());
    assert.match(problems[0] ?? '', problem);
  }
});

test('what the owner of a joined cluster runs is not judged', () => {
  const joined = { id: 'joined', runningCount: 0, acknowledgedCount: 0 };
  assert.deepEqual(summaryOf({ cluster: joined }).problems, []);
});

test('where nothing can move, nothing has to', () => {
  assert.deepEqual(summaryOf({ phase: 'ABORTED', expectsMove: false }).problems, []);
});

test('what the shards say of their needs is one report', () => {
  const other = { ...good, coveredCount: 1, neverCovered: ['batch-us priority 100'] };
  assert.deepEqual(sumCoverage([good, other]), {
    seenCount: 10,
    coveredCount: 5,
    unsatisfiableCount: 2,
    neverCovered: ['batch-us priority 100'],
    unmetTooLong: [],
  });
});
