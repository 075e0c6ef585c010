// The stories of the playground: the six scripted scenarios and closed loops that are worth watching, each
// with the end that it must have. What is written here is checked by a test and shown beside the run.

import { bucketLabel } from '@bigfleet/base';
import { CapacityType, deployedRails, State } from '@bigfleet/engine';
import { supplyExhaustion } from '../closed-loop/canaries.ts';
import type { ClosedLoop, LoopPlan } from '../closed-loop/closed-loop.ts';
import { equalClusters } from '../closed-loop/closed-loop.ts';
import { type Shape, shapeOf } from '../closed-loop/shape.ts';
import { gpuGang, service, tiny } from '../closed-loop/shapes.ts';
import { isConverged, total } from '../closed-loop/stats.ts';
import { costRouting } from '../catalogue/cost-routing.ts';
import { scriptedScenarios } from '../scenarios/scripted.ts';
import { CYCLE_PERIOD_MS } from '../step.ts';
import {
  type ScenarioWords,
  type WatchedPlan,
  type WatchedScenario,
  watchedLoop,
  watchedScript,
} from './watched-world.ts';

const SCRIPTED: Readonly<Record<string, ScenarioWords>> = {
  'training-job-topology': {
    title: 'A training job takes 64 machines',
    question: 'What happens when one job wants everything that is idle?',
    story:
      'One roll-up asks for 64 GPU machines; all of them are idle, so one cycle binds them all.',
    endState: 'All 64 machines are Configured for the training cluster.',
  },
  'capacity-stockout': {
    title: 'The fleet is full',
    question: 'What does a shortfall look like?',
    story: 'The job wants 64 machines and there are 32. It gets what there is; the rest is short.',
    endState: '32 machines are Configured and 256 GPUs stay short.',
  },
  'priority-inversion': {
    title: 'Critical work preempts batch',
    question: 'Who gives way when everything is taken?',
    story: 'Batch work holds all machines when critical work arrives.',
    endState: 'All four machines serve the training cluster; batch is short of 32 GPUs.',
  },
  withdrawal: {
    title: 'The job ends',
    question: 'Where do machines go that nobody asks for any more?',
    story:
      'The cluster withdraws its demand: its machines are reclaimed and lie idle for the next.',
    endState: 'All 32 machines are Idle again.',
  },
  'provider-configure-failure': {
    title: 'A node never joins',
    question: 'What if the provider fails?',
    story: 'One of the configures fails; the next cycle takes another machine instead.',
    endState: 'Three machines are Configured and one is Failed.',
  },
  'drain-failure-withdrawal': {
    title: 'A drain times out',
    question: 'What if a machine cannot be emptied?',
    story: 'Demand is withdrawn and one of eight drains never ends.',
    endState: 'Seven machines are Idle and one is Failed.',
  },
};

const dwells = {
  provisionDwellCycles: 3,
  bootstrapDwellCycles: 2,
  drainDwellCycles: 2,
  deleteDwellCycles: 1,
};
const spot = {
  capacityType: CapacityType.Spot,
  pricePerHour: 0.3,
  interruptionProbability: 0.3,
} as const;
const steady = { pricePerHour: 1, interruptionProbability: 0.05 } as const;
const [tolerant, sensitive] = costRouting.archetypes.map(shapeOf) as [Shape, Shape];
const critical: Shape = { ...tiny, name: 'critical', priority: 1_000_000 };
const HOLD_CYCLES = 10;
const shortHolds = {
  onDemandHoldMs: HOLD_CYCLES * CYCLE_PERIOD_MS,
  spotHoldMs: 5 * CYCLE_PERIOD_MS,
};

function count(
  loop: ClosedLoop,
  state: number,
  is: (machine: Machine) => boolean = () => true,
): number {
  return loop.provider.list().filter((machine) => machine.state === state && is(machine)).length;
}
type Machine = ReturnType<ClosedLoop['provider']['list']>[number];

/** Every difference, in words. */
function expecting(
  ...facts: readonly (readonly [what: string, got: number, want: number])[]
): string[] {
  return facts.flatMap(([what, got, want]) =>
    got === want ? [] : [`${what}: ${got}, not ${want}`],
  );
}

function atRest(loop: ClosedLoop, cycles: number): string[] {
  return isConverged(loop.stats, cycles) ? [] : [`not at rest for ${cycles} cycles`];
}

const plain = (name: string, replicas: number): LoopPlan['clusters'][number] => ({
  id: name,
  workloads: [{ shape: service, objects: 1, replicas }],
});

const LOOPS: readonly WatchedPlan[] = [
  {
    title: 'Cost routing',
    question: 'Why does one team get Spot and another does not?',
    story:
      'Two teams ask for the same machines. An interruption costs one of them nothing and the other $8: price + probability × penalty sends each to its own tier.',
    endState: 'Four tolerant machines on Spot, four sensitive ones on the steady tier.',
    lastCycle: 40,
    plan: {
      name: 'cost-routing',
      ...dwells,
      clusters: [tolerant, sensitive].map((shape) => ({
        id: shape.name,
        workloads: [{ shape, objects: 1, replicas: 40 }],
      })),
      seeds: [
        {
          shape: tolerant,
          density: 10,
          speculative: [
            { count: 6, ...steady },
            { count: 6, ...spot },
          ],
        },
      ],
    },
    violations: (loop) => {
      const on = (cluster: string, risk: number): number =>
        count(
          loop,
          State.Configured,
          (machine) => machine.cluster === cluster && machine.interruptionProbability === risk,
        );
      return [
        ...expecting(
          ['tolerant machines on Spot', on(tolerant.name, 0.3), 4],
          ['sensitive machines on the steady tier', on(sensitive.name, 0.05), 4],
        ),
        ...atRest(loop, 10),
      ];
    },
  },
  {
    title: 'Exactly enough victims',
    question: 'How many machines does a preemption take?',
    story:
      'Batch work holds ten machines when critical work asks for four. Four drain, no more, however long the drains take.',
    endState: 'Four preemptions in all; 60 batch Pods and 40 critical Pods are bound.',
    lastCycle: 60,
    plan: {
      name: 'preemption',
      ...dwells,
      clusters: [
        { id: 'batch', workloads: [{ shape: tiny, objects: 1, replicas: 100 }] },
        { id: 'critical', workloads: [{ shape: critical, objects: 1, replicas: 0 }] },
      ],
      seeds: [
        {
          shape: tiny,
          density: 10,
          idle: [{ count: 10, capacityType: CapacityType.Reserved, pricePerHour: 0.5 }],
        },
      ],
      scales: [{ cycle: 10, shape: 'critical', replicas: 40 }],
    },
    violations: (loop) => [
      ...expecting(
        ['preemptions', total(loop.stats, 'preempts'), 4],
        ['batch Pods bound', loop.cluster('batch').counts().bound, 60],
        ['critical Pods bound', loop.cluster('critical').counts().bound, 40],
      ),
      ...atRest(loop, 20),
    ],
  },
  {
    title: 'Idle capacity is given back',
    question: 'How long do we pay for machines that nobody uses?',
    story:
      'Surplus of each kind lies idle. Spot goes after its short hold, on-demand after the longer one; what is owned or reserved stays.',
    endState: 'Two Spot and three on-demand machines are deleted; four idle ones stay.',
    lastCycle: 40,
    plan: {
      name: 'idle-release',
      releasePolicy: shortHolds,
      deleteDwellCycles: 1,
      clusters: equalClusters(2, [{ shape: tiny, objects: 1, replicas: 40 }]),
      seeds: [
        {
          shape: tiny,
          density: 10,
          configuredPerCluster: 4,
          idle: [
            { count: 2 },
            { count: 2, capacityType: CapacityType.Reserved, pricePerHour: 0.5 },
            { count: 3, capacityType: CapacityType.OnDemand, pricePerHour: 1 },
            { count: 2, ...spot, interruptionProbability: 0.1 },
          ],
        },
      ],
    },
    violations: (loop) => [
      ...expecting(
        ['deletes', total(loop.stats, 'deletes'), 5],
        ['idle machines', count(loop, State.Idle), 4],
      ),
      ...atRest(loop, 10),
    ],
  },
  {
    title: 'A host dies under a gang',
    question: 'What replaces a lost machine, and how often?',
    story:
      'One of seven machines of a training gang is lost at cycle 15. One is bought, in the same rack.',
    endState: 'One machine is provisioned; all seven Pods of the gang are bound.',
    lastCycle: 60,
    plan: {
      name: 'host-loss',
      ...dwells,
      clusters: equalClusters(1, [{ shape: gpuGang, objects: 1, replicas: 7 }]),
      seeds: [
        {
          shape: gpuGang,
          density: 1,
          configuredPerCluster: 7,
          configuredTerms: { capacityType: CapacityType.Reserved, pricePerHour: 53 },
          contiguousRackBlock: 7,
          speculative: [{ count: 21, pricePerHour: 88 }],
        },
      ],
      stampSeededGangAttribution: true,
      faults: [{ cycle: 15, cluster: 'cluster-1', count: 1 }],
    },
    violations: (loop) => [
      ...expecting(
        ['provisions', total(loop.stats, 'provisions'), 1],
        ['Pods bound', loop.cluster('cluster-1').counts().bound, 7],
      ),
      ...atRest(loop, 20),
    ],
  },
  {
    title: 'Gangs that do not fit',
    question: 'What if no rack can hold the gang?',
    story:
      'Eight gangs of five want three racks of eight. Those that find a rack run; the others are short, and nothing churns.',
    endState: 'Some gangs run, some are short, and nothing moves for the last 30 cycles.',
    lastCycle: 100,
    plan: {
      name: 'gang-contention',
      ...dwells,
      clusters: equalClusters(4, [{ shape: gpuGang, objects: 2, replicas: 5 }]),
      seeds: [
        {
          shape: gpuGang,
          density: 1,
          racksPerZone: 2,
          contiguousRackBlock: 4,
          idle: [{ count: 12, capacityType: CapacityType.Reserved, pricePerHour: 53 }],
          speculative: [{ count: 12, pricePerHour: 88 }],
        },
      ],
    },
    violations: (loop) => [
      ...(loop.stats.at(-1)?.shortfalls === 0 ? ['no gang is short'] : []),
      ...(count(loop, State.Configured) === 0 ? ['no gang runs'] : []),
      ...atRest(loop, 30),
    ],
  },
  {
    title: 'More demand than supply',
    question: 'Does a full fleet stay calm?',
    story:
      'Three clusters ask for more than every tier together has. The fleet fills up and rests.',
    endState: 'Something is short, and nothing moves for the last 40 cycles.',
    lastCycle: 120,
    plan: supplyExhaustion,
    violations: (loop) => [
      ...(loop.stats.at(-1)?.shortfalls === 0 ? ['nothing is short'] : []),
      ...atRest(loop, 40),
    ],
  },
  {
    title: 'A peak comes and goes',
    question: 'What does a peak cost, and what is left of it?',
    story:
      'A service triples at cycle 10 and falls back at cycle 40. Spot and on-demand are bought, reclaimed a few at a time, and given back after their holds.',
    endState:
      'The 60 Pods of before run on reserved machines; nothing bought for the peak is left.',
    lastCycle: 140,
    plan: {
      name: 'peak',
      ...dwells,
      rails: deployedRails,
      releasePolicy: shortHolds,
      clusters: [plain('shop', 60)],
      seeds: [
        {
          shape: service,
          density: 10,
          idle: [{ count: 6, capacityType: CapacityType.Reserved, pricePerHour: 0.1 }],
          speculative: [
            { count: 6, pricePerHour: 0.4 },
            { count: 10, ...spot, pricePerHour: 0.13, interruptionProbability: 0.0001 },
          ],
        },
      ],
      scales: [
        { cycle: 10, shape: service.name, replicas: 180 },
        { cycle: 40, shape: service.name, replicas: 60 },
      ],
    },
    violations: (loop) =>
      expecting(
        ['Pods bound', loop.cluster('shop').counts().bound, 60],
        [
          'machines left of the peak',
          loop.provider
            .list()
            .filter(
              ({ state, capacityType }) =>
                state !== State.Speculative && capacityType !== CapacityType.Reserved,
            ).length,
          0,
        ],
      ),
  },
  {
    title: 'A zone is lost',
    question: 'Who survives the loss of a zone?',
    story:
      'At cycle 20 everything in zone-a disappears. The same demand is bought again in the zones that are left.',
    endState: 'All 120 Pods are bound, and no machine stands in zone-a.',
    lastCycle: 80,
    plan: {
      name: 'zone-loss',
      ...dwells,
      clusters: [plain('shop', 60), plain('search', 60)],
      seeds: [
        {
          shape: service,
          density: 10,
          idle: [{ count: 12, capacityType: CapacityType.Reserved, pricePerHour: 0.25 }],
          speculative: [{ count: 24, pricePerHour: 0.4 }],
        },
      ],
    },
    beforeCycle: ({ loop, cycle }) => {
      if (cycle !== 20) return;
      for (const { id, zone } of loop.provider.list()) {
        if (zone === 'zone-a') loop.provider.removeMachine(id);
      }
    },
    violations: (loop) => [
      ...expecting(
        [
          'Pods bound',
          loop.cluster('shop').counts().bound + loop.cluster('search').counts().bound,
          120,
        ],
        [
          'machines in zone-a',
          loop.provider.list().filter(({ zone }) => zone === 'zone-a').length,
          0,
        ],
      ),
      ...atRest(loop, 20),
    ],
  },
  {
    title: 'Spot prices spike',
    question: 'What happens when Spot is no bargain any more?',
    story:
      'Spot costs a third of on-demand, then four times as much from cycle 20 on. What runs stays where it is; what is asked for afterwards goes on demand.',
    endState: 'Four machines on Spot from before the spike, four on demand from after it.',
    lastCycle: 60,
    plan: {
      name: 'spot-spike',
      ...dwells,
      clusters: [
        { id: 'early', workloads: [{ shape: tolerant, objects: 1, replicas: 40 }] },
        {
          id: 'late',
          workloads: [{ shape: { ...tolerant, name: 'late' }, objects: 1, replicas: 0 }],
        },
      ],
      seeds: [
        {
          shape: tolerant,
          density: 10,
          speculative: [
            { count: 8, ...steady },
            { count: 12, ...spot },
          ],
        },
      ],
      scales: [{ cycle: 25, shape: 'late', replicas: 40 }],
    },
    beforeCycle: ({ loop, cycle }) => {
      if (cycle !== 20) return;
      for (const { id, capacityType, pricePerHour } of loop.provider.list()) {
        if (capacityType !== CapacityType.Spot) continue;
        loop.provider.republish(id, { pricePerHour: pricePerHour * 4 });
      }
    },
    violations: (loop) => {
      const of = (cluster: string, type: number): number =>
        count(
          loop,
          State.Configured,
          (machine) => machine.cluster === cluster && machine.capacityType === type,
        );
      return [
        ...expecting(
          ['early machines on Spot', of('early', CapacityType.Spot), 4],
          ['late machines on demand', of('late', CapacityType.OnDemand), 4],
        ),
        ...atRest(loop, 10),
      ];
    },
  },
];

/** Workloads breathe, hosts die, Spot is interrupted as declared: a fleet that lives. */
const SANDBOX_CYCLES = 720;
const SANDBOX_GROWTH_CYCLES = 24;
const sandbox: WatchedPlan = {
  title: 'Sandbox: a living fleet',
  question: 'What does it look like when everything happens at once?',
  story:
    'Four clusters of critical, service and batch work breathe through two hours; Spot is interrupted as often as declared. Turn the sliders and watch.',
  endState: 'No critical or service need is short after the first ten minutes have settled.',
  lastCycle: SANDBOX_CYCLES,
  hasInterruptions: true,
  plan: {
    name: 'sandbox',
    ...dwells,
    rails: deployedRails,
    releasePolicy: shortHolds,
    clusters: ['shop', 'search', 'ads', 'ml'].map((id) => ({
      id,
      workloads: [
        { shape: critical, objects: 1, replicas: 20 },
        { shape: service, objects: 1, replicas: 60 },
        { shape: tiny, objects: 1, replicas: 80 },
        { shape: gpuGang, objects: 1, replicas: id === 'ml' ? 4 : 2 },
      ],
    })),
    seeds: [
      {
        shape: service,
        density: 10,
        idle: [{ count: 16, capacityType: CapacityType.Reserved, pricePerHour: 0.25 }],
        speculative: [
          { count: 40, pricePerHour: 0.4 },
          { count: 40, ...spot, pricePerHour: 0.13, interruptionProbability: 0.02 },
        ],
      },
      {
        shape: tiny,
        density: 10,
        idle: [{ count: 8 }, { count: 8, capacityType: CapacityType.Reserved, pricePerHour: 0.06 }],
        speculative: [
          { count: 60, pricePerHour: 0.096 },
          { count: 60, ...spot, pricePerHour: 0.031, interruptionProbability: 0.02 },
        ],
      },
      {
        shape: gpuGang,
        density: 1,
        contiguousRackBlock: 6,
        idle: [{ count: 6, capacityType: CapacityType.Reserved, pricePerHour: 53 }],
        speculative: [{ count: 30, pricePerHour: 88 }],
      },
    ],
  },
  beforeCycle: ({ loop, cycle, random, settings }) => {
    if (cycle === 0 || cycle % SANDBOX_GROWTH_CYCLES !== 0) return;
    for (const cluster of loop.clusters) {
      const breath = 0.6 + random.float() * 0.9;
      cluster.scale(service.name, Math.round(60 * breath * settings.demand));
      cluster.scale(tiny.name, Math.round(80 * (0.5 + random.float()) * settings.demand));
    }
  },
  violations: (loop) => {
    const short = loop.lastStep?.output.verdicts.filter(
      ({ satisfied, need, reasonCode }) =>
        !satisfied && need.profile.priority >= 1_000 && reasonCode !== 'awaiting_drain',
    );
    return (short ?? []).map(
      ({ need, reasonCode }) =>
        `${need.cluster}: a need of priority ${need.profile.priority} (penalty ${bucketLabel(need.profile.interruptionBucket)}) is short: ${reasonCode}`,
    );
  },
};

export const watchedScenarios: readonly WatchedScenario[] = [
  watchedLoop(sandbox),
  ...LOOPS.map(watchedLoop),
  ...scriptedScenarios.flatMap((scenario) => {
    const words = SCRIPTED[scenario.name];
    return words === undefined ? [] : [watchedScript(scenario, words)];
  }),
];
