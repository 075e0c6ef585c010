// CapacityProvider.Get: the call that a shard makes most. Calls per second with 64 in flight on
// one connection, and the round trip of one call alone, beside bare @grpc/grpc-js.

import { type BenchEntry, defineBench } from '../harness/index.ts';
import { compareSides, LEAST_RATIO, type Sides, startSides, stopSides } from './beside.ts';
import { MACHINE_COUNT, machineBytes, machineId } from './messages.ts';
import type { ClientSide } from './side.ts';
import { STEADY_CODEC_FLAGS } from './steady-codec.ts';

interface Calls {
  readonly count: number;
  readonly inFlight: number;
}

const LOAD: Calls = { count: 500, inFlight: 64 };
const ALONE: Calls = { count: 50, inFlight: 1 };

/** Each caller waits for its answer before its next call, which is what bounds the flight. */
async function callAll(side: ClientSide, { count, inFlight }: Calls): Promise<Float64Array> {
  const latenciesMs = new Float64Array(count);
  let next = 0;
  const caller = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      const id = machineId(index);
      const startMs = performance.now();
      const machine = await side.get(id);
      latenciesMs[index] = performance.now() - startMs;
      if (machine.id !== id) throw new Error(`asked for ${id}, got ${machine.id}`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return latenciesMs;
}

interface Trial {
  /** Encoded size of each machine that was answered. */
  readonly machineBytes: ReadonlyMap<string, number>;
  readonly answerCount: number;
  readonly mostInFlight: number;
}

/** One round of the load with everything counted, untimed. */
async function tryLoad(side: ClientSide): Promise<Trial> {
  const sizes = new Map<string, number>();
  let [inFlight, mostInFlight] = [0, 0];
  const counted: ClientSide = {
    ...side,
    async get(id) {
      mostInFlight = Math.max(mostInFlight, ++inFlight);
      const machine = await side.get(id);
      inFlight--;
      sizes.set(machine.id, machineBytes(machine));
      return machine;
    },
  };
  const { length: answerCount } = await callAll(counted, LOAD);
  return { machineBytes: sizes, answerCount, mostInFlight };
}

interface State {
  readonly sides: Sides;
  readonly trial: Trial;
}

const entries: readonly BenchEntry[] = [
  defineBench<State>({
    name: 'wire/unary',
    shape: {
      machines: MACHINE_COUNT,
      machineBytesLeast: { min: 500, max: 650 },
      machineBytesMost: { min: 500, max: 650 },
      callsPerIteration: LOAD.count,
      inFlight: LOAD.inFlight,
    },
    warmup: 10,
    iterations: 30,
    opsPerIteration: LOAD.count,
    nodeFlags: STEADY_CODEC_FLAGS,
    bars: { 'extra.ratio': { min: LEAST_RATIO } },
    timeoutMs: 180_000,
    async setup({ seed }) {
      const sides = await startSides(seed);
      return { sides, trial: await tryLoad(sides.ours.client) };
    },
    observe({ trial }) {
      return {
        machines: trial.machineBytes.size,
        machineBytesLeast: Math.min(...trial.machineBytes.values()),
        machineBytesMost: Math.max(...trial.machineBytes.values()),
        callsPerIteration: trial.answerCount,
        inFlight: trial.mostInFlight,
      };
    },
    async iteration({ sides }) {
      await callAll(sides.ours.client, LOAD);
    },
    extras: ({ sides }) =>
      compareSides(sides, {
        rounds: 60,
        load: (side) => callAll(side, LOAD),
        opsPerLoadRound: LOAD.count,
        roundTrips: (side) => callAll(side, ALONE),
      }),
    teardown: ({ sides }) => stopSides(sides),
  }),
];

export default entries;
