// The six scripted scenarios: the worked examples of how BigFleet assigns, falls short, preempts,
// withdraws and survives a failing provider.

import { bucketOfDollars } from '@bigfleet/base';
import {
  CapacityType,
  createProfile,
  INSTANCE_TYPE_KEY,
  type Machine,
  type Need,
  noAssignment,
  Operator,
  printResources,
  type Resources,
  State,
  type StateCode,
  stateName,
} from '@bigfleet/engine';
import type { Scenario, ScenarioEnd } from './scenario.ts';

const GPU = 'nvidia.com/gpu';
const GPU_TYPE = 'a3-highgpu-8g';
const GPUS_PER_MACHINE = 8;
const MILLI = 1000;

const gpus = (count: number): Resources => new Map([[GPU, count * MILLI]]);

function idleGpuMachines(count: number): Machine[] {
  return Array.from({ length: count }, (_, index) => {
    const id = `gpu-${String(index + 1).padStart(3, '0')}`;
    return {
      id,
      state: State.Idle,
      provider: 'fake',
      host: { provider: 'fake', ref: `host-${id}` },
      cluster: '',
      instanceType: GPU_TYPE,
      zone: 'zone-a',
      capacityType: CapacityType.BareMetal,
      labels: new Map(),
      allocatable: gpus(GPUS_PER_MACHINE),
      pricePerHour: 0,
      interruptionProbability: 0,
      lastError: '',
      assigned: noAssignment,
      intendedCluster: '',
      withheld: undefined,
    };
  });
}

/** Whole machines' worth of GPUs, each Pod filling a machine. */
function demand(cluster: string, machineCount: number, priority: number): Need {
  return {
    cluster,
    profile: createProfile({
      requirements: [{ key: INSTANCE_TYPE_KEY, operator: Operator.In, values: [GPU_TYPE] }],
      spread: [],
      priority,
      interruptionBucket: bucketOfDollars(0),
      reclamationBucket: bucketOfDollars(0),
    }),
    aggregate: gpus(machineCount * GPUS_PER_MACHINE),
    minUnit: gpus(GPUS_PER_MACHINE),
    group: '',
    arrivalUnixNanos: 0n,
  };
}

interface Expected {
  /** Machines per state, nothing else existing. */
  readonly states: Partial<Record<StateCode, number>>;
  readonly configured?: Readonly<Record<string, number>>;
  /** Deficit of each shortfall, printed. */
  readonly deficits?: readonly Readonly<Record<string, string>>[];
}

/** Compares the end with all of what is expected, and says every difference. */
function expecting(expected: Expected): (end: ScenarioEnd) => string[] {
  return ({ machines, shortfalls }) => {
    const found: string[] = [];
    const count = (state: number): number =>
      machines.filter((machine) => machine.state === state).length;
    for (const state of Object.values(State)) {
      const want = state === State.Unspecified ? 0 : (expected.states[state] ?? 0);
      if (count(state) !== want) found.push(`${count(state)} ${stateName(state)}, not ${want}`);
    }
    for (const [cluster, want] of Object.entries(expected.configured ?? {})) {
      const got = machines.filter(
        (machine) => machine.state === State.Configured && machine.cluster === cluster,
      ).length;
      if (got !== want) found.push(`${got} Configured for ${cluster}, not ${want}`);
    }
    const deficits = shortfalls.map(({ deficit }) => Object.fromEntries(printResources(deficit)));
    const wanted = JSON.stringify(expected.deficits ?? []);
    if (JSON.stringify(deficits) !== wanted) {
      found.push(`shortfalls ${JSON.stringify(deficits)}, not ${wanted}`);
    }
    for (const { id, state, lastError } of machines) {
      if ((state === State.Failed) !== (lastError !== ''))
        found.push(`${id} fails without an error`);
    }
    return found;
  };
}

const CRITICAL = 1_000_000;
const BATCH = 100_000;

export const scriptedScenarios: readonly Scenario[] = [
  {
    name: 'training-job-topology',
    machines: idleGpuMachines(64),
    events: [{ cluster: 'training', rollup: [demand('training', 64, CRITICAL)] }],
    violations: expecting({ states: { [State.Configured]: 64 }, configured: { training: 64 } }),
  },
  {
    name: 'capacity-stockout',
    machines: idleGpuMachines(32),
    events: [{ cluster: 'training', rollup: [demand('training', 64, CRITICAL)], cyclesAfter: 2 }],
    violations: expecting({
      states: { [State.Configured]: 32 },
      configured: { training: 32 },
      deficits: [{ [GPU]: '256' }],
    }),
  },
  {
    name: 'priority-inversion',
    machines: idleGpuMachines(4),
    events: [
      { cluster: 'batch', rollup: [demand('batch', 4, BATCH)] },
      // Preempt, then bootstrap what was freed.
      { cluster: 'training', rollup: [demand('training', 4, CRITICAL)], cyclesAfter: 2 },
    ],
    violations: expecting({
      states: { [State.Configured]: 4 },
      configured: { training: 4, batch: 0 },
      deficits: [{ [GPU]: '32' }],
    }),
  },
  {
    name: 'withdrawal',
    machines: idleGpuMachines(32),
    events: [
      { cluster: 'training', rollup: [demand('training', 32, CRITICAL)] },
      { cluster: 'training', rollup: [] },
    ],
    violations: expecting({ states: { [State.Idle]: 32 } }),
  },
  {
    name: 'provider-configure-failure',
    machines: idleGpuMachines(4),
    events: [{ cluster: 'training', rollup: [demand('training', 3, CRITICAL)], cyclesAfter: 2 }],
    beforeRun: (provider) => {
      provider.failNext('gpu-002', State.Configured, 'configure: no route to host');
    },
    violations: expecting({
      states: { [State.Configured]: 3, [State.Failed]: 1 },
      configured: { training: 3 },
    }),
  },
  {
    name: 'drain-failure-withdrawal',
    machines: idleGpuMachines(8),
    events: [
      { cluster: 'training', rollup: [demand('training', 8, CRITICAL)] },
      { cluster: 'training', rollup: [] },
    ],
    beforeRun: (provider) => {
      provider.failNext('gpu-005', State.Idle, 'drain: timed out');
    },
    violations: expecting({ states: { [State.Idle]: 7, [State.Failed]: 1 } }),
  },
];
