// A large cluster's roll-up (2,000 needs, about 434 KB) up a session and its acknowledgement back,
// decoded at the far end, two under way. Most of the time is the codec's, on both sides alike:
// this bench guards how large messages are framed, copied and flow-controlled, not the codec.

import { type BenchEntry, defineBench } from '../harness/index.ts';
import { compareSides, LEAST_RATIO, type Sides, startSides, stopSides } from './beside.ts';
import { type Flight, type FlightPlan, fly } from './flight.ts';
import { createRollupFrame, frameBytes } from './messages.ts';
import { STEADY_CODEC_FLAGS } from './steady-codec.ts';

const NEED_COUNT = 2_000;
const LOAD = { count: 4, window: 2 } as const;
const ALONE = { count: 3, window: 1 } as const;

interface State {
  readonly sides: Sides;
  readonly load: FlightPlan;
  readonly alone: FlightPlan;
  readonly trial: Flight;
}

function countNeeds({ frames }: FlightPlan): number {
  const payload = frames[0]?.message.payload;
  return payload?.case === 'rollup' ? payload.value.needs.length : 0;
}

const entries: readonly BenchEntry[] = [
  defineBench<State>({
    name: 'wire/rollup-434k',
    shape: {
      needs: NEED_COUNT,
      rollupBytes: { min: 425_000, max: 445_000 },
      rollupsPerIteration: LOAD.count,
      mostUnanswered: LOAD.window,
    },
    warmup: 5,
    iterations: 20,
    opsPerIteration: LOAD.count,
    nodeFlags: STEADY_CODEC_FLAGS,
    bars: { 'extra.ratio': { min: LEAST_RATIO } },
    // A roll-up's buffers are external memory, whose pressure makes V8 collect in every batch.
    measureAllocations: false,
    timeoutMs: 180_000,
    async setup({ seed }) {
      const frames = [createRollupFrame(seed, NEED_COUNT)];
      const load = { frames, ...LOAD };
      const sides = await startSides(seed);
      const trial = await fly(sides.ours.client, load);
      return { sides, load, alone: { frames, ...ALONE }, trial };
    },
    observe({ load, trial }) {
      return {
        needs: countNeeds(load),
        rollupBytes: load.frames.reduce((sum, frame) => sum + frameBytes(frame), 0),
        rollupsPerIteration: trial.answeredCount,
        mostUnanswered: trial.mostUnanswered,
      };
    },
    async iteration({ sides, load }) {
      await fly(sides.ours.client, load);
    },
    async extras({ sides, load, alone }) {
      const compared = await compareSides(sides, {
        rounds: 45,
        load: async (side) => (await fly(side, load)).latenciesMs,
        opsPerLoadRound: LOAD.count,
        roundTrips: async (side) => (await fly(side, alone)).latenciesMs,
      });
      const bytes = load.frames.reduce((sum, frame) => sum + frameBytes(frame), 0);
      return { ...compared, oursMegabytesPerSecond: (compared.oursOpsPerSecond * bytes) / 1e6 };
    },
    teardown: ({ sides }) => stopSides(sides),
  }),
];

export default entries;
