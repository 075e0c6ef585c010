// Proves what pages say beyond machines and needs: phantom machines as operators report them, now and in the
// past, the phases of a cycle, dollars by team, and conformance reports beside the providers they name.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { State } from '@bigfleet/engine';
import { answers, params } from '../api/index.ts';
import type {
  Annotations,
  Fleet,
  MachineFacts,
  NeedFacts,
  ShardFacts,
  ShardFeed,
} from '../facts.ts';
import { createFleet } from '../model/fleet.ts';
import { nobodyOutside, syntheticAnnotations } from '../testing/synthetic-fleet.ts';

const START_MS = 1_700_000_000_000;
const STEP_MS = 10_000;

function machine(id: string, cluster: string, more: Partial<MachineFacts> = {}): MachineFacts {
  return {
    machine: id,
    state: State.Configured,
    cluster,
    provider: 'aws',
    instanceType: 't',
    region: '',
    zone: 'z',
    rack: '',
    capacityType: 3,
    dollarsPerHour: 2,
    interruptionProbability: 0,
    priority: 1_000,
    interruptionPenaltyBucket: 1,
    reclamationPenaltyBucket: 1,
    node: `node-${id}`,
    sinceMs: START_MS,
    pendingAction: '',
    lastError: '',
    need: '',
    group: '',
    ...more,
  };
}

function need(cluster: string, priority: number, more: Partial<NeedFacts> = {}): NeedFacts {
  return {
    cluster,
    fingerprint: `f-${priority}`,
    group: '',
    priority,
    interruptionPenaltyBucket: 1,
    reclamationPenaltyBucket: 1,
    requirements: [],
    resources: { cpu: '1' },
    isSatisfied: false,
    deficit: { cpu: '1' },
    reason: 'no_matching_supply',
    claimed: 0,
    ageCyclesUnmet: 1,
    isEscalated: false,
    isParked: false,
    domain: '',
    matching: { idle: 0, configured: 0, speculative: 0 },
    awaitingDrain: 0,
    ...more,
  };
}

const PHASES: ShardFacts['phases'] = [
  { phase: 'phase1', p50Ms: 3, p99Ms: 9, maxMs: 12, cycles: 256 },
  { phase: 'cycle', p50Ms: 5, p99Ms: 14, maxMs: 20, cycles: 256 },
];

/** Cluster → what its operator reports. */
type Reports = Readonly<Record<string, readonly string[]>>;

class Stage {
  nowMs = START_MS;
  readonly fleet: Fleet;
  readonly feed: ShardFeed;
  #cycle = 0;

  constructor(
    machines: readonly MachineFacts[],
    needs: readonly NeedFacts[] = [],
    annotations?: Annotations,
  ) {
    this.fleet = createFleet({
      nowMs: () => this.nowMs,
      isSimulated: false,
      outside: nobodyOutside,
      ...(annotations !== undefined && { annotations }),
    });
    this.feed = this.fleet.shard('s', '');
    this.feed.begin({ epoch: 1n, cycle: 0, isResumed: false });
    this.feed.snapshotPart(machines, needs);
    this.feed.snapshotEnd({ machines: machines.length, needs: needs.length, atMs: this.nowMs });
  }

  status(reports: Reports, more: Partial<ShardFacts> & { tellsNodes?: boolean } = {}): void {
    const { tellsNodes = true, ...facts } = more;
    this.feed.status({
      epoch: 1n,
      startedMs: START_MS,
      isReady: true,
      isPaused: false,
      isDryRun: false,
      rails: [],
      version: '1',
      providers: [],
      brakes: [],
      phases: PHASES,
      sessions: Object.entries(reports).map(([cluster, phantoms]) => ({
        cluster,
        isConnected: true,
        sinceMs: START_MS,
        lastRollupMs: this.nowMs,
        quarantinedRollups: 0,
        identity: '',
        tellsNodes,
        phantoms,
      })),
      ...facts,
    });
  }

  cycle(changed: readonly MachineFacts[] = []): void {
    this.nowMs += STEP_MS;
    this.#cycle += 1;
    this.feed.cycle({
      cycle: this.#cycle,
      atMs: this.nowMs,
      machinesChanged: changed,
      machinesRemoved: [],
      needsChanged: [],
      needsRemoved: [],
      actions: {},
      shortfalls: 0,
      dollarsPerHour: 0,
    });
  }

  async ask<
    V extends 'triage' | 'cost' | 'providers' | 'shards' | 'clusters' | 'machines' | 'needs',
  >(view: V, asked: Readonly<Record<string, string>> = {}) {
    const answer = await this.fleet.answer(view, params[view].parse(asked) as never);
    assert.ok(answer.ok, answer.ok ? '' : answer.error.message);
    const held = answers[view].safeParse(answer.value);
    assert.ok(held.success, held.error?.message);
    return answer.value;
  }
}

test('phantoms are counted and listed with cluster, provider, node and dollars', async () => {
  const stage = new Stage([
    machine('m-1', 'blue'),
    machine('m-2', 'blue', { dollarsPerHour: 5 }),
    machine('m-3', 'red'),
  ]);
  stage.status({ blue: ['m-1', 'm-2'], red: [] });
  const { phantoms, tree, verdict, isSerious } = await stage.ask('triage');
  assert.deepEqual([phantoms.count, phantoms.clusters, phantoms.dollarsPerHour], [2, 1, 7]);
  assert.deepEqual(
    phantoms.machines.map((row) => [row.machine, row.cluster, row.provider, row.node]),
    [
      ['m-2', 'blue', 'aws', 'node-m-2'],
      ['m-1', 'blue', 'aws', 'node-m-1'],
    ],
  );
  assert.equal(tree.find(({ branch }) => branch === 'phantom-capacity')?.rows, 2);
  assert.match(
    verdict,
    /^Phantom capacity: nothing is short, and 2 machines in 1 cluster count as/,
  );
  assert.equal(isSerious, false);
  const { clusters } = await stage.ask('clusters');
  assert.deepEqual(
    clusters.map(({ cluster, phantoms: count }) => [cluster, count]),
    [
      ['blue', 2],
      ['red', 0],
    ],
  );
});

test('a report counts only for machines that are bound to its own cluster', async () => {
  const stage = new Stage([
    machine('mine', 'blue'),
    machine('theirs', 'red'),
    machine('idle', '', { state: State.Idle }),
  ]);
  stage.status({ blue: ['mine', 'theirs', 'idle', 'unknown', 'mine'], red: [] });
  const { phantoms } = await stage.ask('triage');
  assert.deepEqual(
    phantoms.machines.map((row) => row.machine),
    ['mine'],
  );
  assert.equal(phantoms.count, 1);
});

test('filters hold for phantoms too', async () => {
  const stage = new Stage([machine('m-1', 'blue'), machine('m-2', 'red')]);
  stage.status({ blue: ['m-1'], red: ['m-2'] });
  assert.equal((await stage.ask('triage', { cluster: 'red' })).phantoms.count, 1);
  assert.equal((await stage.ask('triage', { shard: 'other' })).phantoms.count, 0);
  const { phantoms } = await stage.ask('triage', { limit: '1' });
  assert.deepEqual([phantoms.count, phantoms.machines.length], [2, 1]);
});

test('a shortfall stays the verdict, and phantoms are said beside it', async () => {
  const stage = new Stage([machine('m-1', 'blue')], [need('blue', 1_000)]);
  stage.status({ blue: ['m-1'] });
  const serious = await stage.ask('triage');
  assert.match(serious.verdict, /^Serious: 1 service need in 1 cluster; .* And 1 machine in 1/);
  const batch = new Stage([machine('m-1', 'blue')], [need('blue', 100)]);
  batch.status({ blue: ['m-1'] });
  assert.match((await batch.ask('triage')).verdict, /^Phantom capacity: only batch work is short/);
});

test('a past moment shows the phantoms of that moment', async () => {
  const stage = new Stage([machine('m-1', 'blue'), machine('m-2', 'blue')]);
  stage.status({ blue: [] });
  stage.cycle();
  const before = stage.nowMs;
  stage.cycle();
  stage.status({ blue: ['m-1', 'm-2'] });
  const during = stage.nowMs;
  stage.cycle([machine('m-2', 'blue', { state: State.Failed, cluster: '' })]);
  stage.status({ blue: [] });
  stage.cycle();
  const seen = async (at: number): Promise<unknown> =>
    (await stage.ask('triage', { at: String(at) })).phantoms.machines.map((row) => row.machine);
  assert.deepEqual(await seen(before), []);
  assert.deepEqual(await seen(during), ['m-1', 'm-2']);
  assert.deepEqual(await seen(0), []);
});

test('a report that comes after its cycle is seen at that moment by whoever asks again', async () => {
  const stage = new Stage([machine('m-1', 'blue')]);
  stage.status({ blue: [] });
  stage.cycle();
  const at = String(stage.nowMs);
  assert.equal((await stage.ask('triage', { at })).phantoms.count, 0);
  stage.status({ blue: ['m-1'] });
  assert.equal((await stage.ask('triage', { at })).phantoms.count, 1);
});

test('who cannot tell is told apart from who has nothing to tell', async () => {
  const stage = new Stage([]);
  const reporting = async (): Promise<unknown> => {
    const { phantoms } = await stage.ask('triage');
    return [phantoms.reporting, phantoms.sessions];
  };
  stage.status({ blue: [], red: [] });
  assert.deepEqual(await reporting(), [2, 2]);
  stage.status({ blue: [], red: [] }, { tellsNodes: false });
  assert.deepEqual(await reporting(), [0, 2], 'an operator without node identity');
  stage.status({ blue: [] }, { phases: [] });
  assert.deepEqual(await reporting(), [0, 1], 'a shard of before');
});

test('the phases of a cycle are those of the moment, and empty when none are told', async () => {
  const stage = new Stage([]);
  const phases = async (at = 0): Promise<unknown> =>
    (await stage.ask('shards', { at: String(at) })).shards[0]?.phases;
  assert.deepEqual(await phases(), []);
  stage.status({});
  stage.cycle();
  const before = stage.nowMs;
  assert.deepEqual(await phases(), PHASES);
  stage.cycle();
  stage.status({}, { phases: PHASES.map((phase) => ({ ...phase, p99Ms: 99 })) });
  stage.cycle();
  assert.deepEqual(await phases(before), PHASES);
  assert.notDeepEqual(await phases(), PHASES);
});

const TEAMS: Annotations = {
  teams: [
    { team: 'search', pattern: 'blue*' },
    { team: 'ads', pattern: 'red' },
    { team: 'empty', pattern: 'nobody-*' },
  ],
  conformance: new Map(),
};

test('dollars by team are the dollars by cluster, and those of no team are there', async () => {
  const machines = [
    machine('m-1', 'blue-1'),
    machine('m-2', 'blue-2', { dollarsPerHour: 4 }),
    machine('m-3', 'red'),
    machine('m-4', 'green', { dollarsPerHour: 8 }),
    machine('m-5', '', { state: State.Idle }),
  ];
  const stage = new Stage(machines, [], TEAMS);
  const { byTeam, byCluster } = await stage.ask('cost');
  assert.deepEqual(byTeam, [
    { name: 'search', count: 2, dollarsPerHour: 6 },
    { name: 'ads', count: 1, dollarsPerHour: 2 },
    { name: 'empty', count: 0, dollarsPerHour: 0 },
    { name: '', count: 1, dollarsPerHour: 8 },
  ]);
  const sum = (shares: typeof byTeam): number =>
    shares.reduce((total, { dollarsPerHour }) => total + dollarsPerHour, 0);
  assert.equal(sum(byTeam), sum(byCluster));
  assert.deepEqual((await new Stage(machines).ask('cost')).byTeam, [], 'nobody said');
  const { machines: rows } = await stage.ask('machines', { team: 'search' });
  assert.deepEqual(
    rows.map((row) => row.machine),
    ['m-1', 'm-2'],
  );
  assert.equal((await stage.ask('machines', { team: 'nobody' })).total, 0);
  stage.status({ 'blue-1': [], green: [] });
  const { clusters } = await stage.ask('clusters');
  assert.deepEqual(
    clusters.map(({ cluster, team }) => `${cluster} ${team}`),
    ['blue-1 search', 'blue-2 search', 'green ', 'red ads'],
  );
});

test('a report stands beside its provider; one that fits nobody is named', async () => {
  const stage = new Stage([machine('m-1', 'blue')], [], syntheticAnnotations);
  const { providers, unmatchedReports } = await stage.ask('providers');
  assert.deepEqual(
    providers.map(({ name, conformance }) => [name, conformance?.verdict]),
    [['aws', 'CERTIFIED']],
  );
  assert.deepEqual(unmatchedReports, ['gcp']);
  const plain = await new Stage([machine('m-1', 'blue')]).ask('providers');
  assert.equal(plain.providers[0]?.conformance, null);
});

test('the price of a need is that of its own machines, and not told when others serve it', async () => {
  const machines = [
    machine('a', 'web', { need: 'f-7', group: 'old' }),
    machine('b', 'web', { need: 'f-7', group: 'new' }),
    machine('c', 'web', { need: 'f-8' }),
    machine('d', 'web', { need: 'f-8', dollarsPerHour: 3 }),
    // Billed until it has drained, and serves nobody any more.
    machine('e', 'web', { need: 'f-9', state: State.Draining }),
  ];
  const needs = [
    need('web', 7, { group: 'new', claimed: 2, isSatisfied: true }),
    need('web', 8, { claimed: 2, isSatisfied: true }),
    need('web', 9),
  ];
  const { needs: found } = await new Stage(machines, needs).ask('needs');
  const priceOf = (priority: number): number | null | undefined =>
    found.find((row) => row.priority === priority)?.claimedDollarsPerHour;
  assert.equal(priceOf(7), null, 'one of its two machines was bound for a gang that is gone');
  assert.equal(priceOf(8), 5);
  assert.equal(priceOf(9), 0);
});
