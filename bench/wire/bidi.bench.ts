// Shard.Session with small frames: a bootstrap answer up, a node update of the same size down,
// many unanswered on one stream, flow control at both ends. Beside bare @grpc/grpc-js.
// An operation is one frame and its answer, so messages per second are twice the operations.

import { type BenchEntry, defineBench } from '../harness/index.ts';
import { compareSides, LEAST_RATIO, type Sides, startSides, stopSides } from './beside.ts';
import { type Flight, type FlightPlan, fly } from './flight.ts';
import {
  answerBytes,
  createBootstrapFrames,
  FRAME_COUNT,
  type Frame,
  frameBytes,
} from './messages.ts';
import { STEADY_CODEC_FLAGS } from './steady-codec.ts';

const LOAD = { count: 1_000, window: 256 } as const;
const ALONE = { count: 100, window: 1 } as const;

interface State {
  readonly sides: Sides;
  readonly load: FlightPlan;
  readonly alone: FlightPlan;
  readonly trial: Flight;
}

function sizesOf(frames: readonly Frame[]): { readonly least: number; readonly most: number } {
  const sizes = frames.map(frameBytes);
  return { least: Math.min(...sizes), most: Math.max(...sizes) };
}

const entries: readonly BenchEntry[] = [
  defineBench<State>({
    name: 'wire/bidi',
    shape: {
      frames: FRAME_COUNT,
      frameBytesLeast: { min: 480, max: 600 },
      frameBytesMost: { min: 480, max: 600 },
      answerBytes: { min: 480, max: 600 },
      framesPerIteration: LOAD.count,
      mostUnanswered: { min: 64, max: LOAD.window },
    },
    warmup: 10,
    iterations: 30,
    opsPerIteration: LOAD.count,
    nodeFlags: STEADY_CODEC_FLAGS,
    bars: { 'extra.ratio': { min: LEAST_RATIO } },
    timeoutMs: 180_000,
    async setup({ seed }) {
      const frames = createBootstrapFrames(seed);
      const load = { frames, ...LOAD };
      const sides = await startSides(seed);
      const trial = await fly(sides.ours.client, load);
      return { sides, load, alone: { frames, ...ALONE }, trial };
    },
    observe({ load, trial }) {
      const { least, most } = sizesOf(load.frames);
      return {
        frames: new Set(load.frames.map(({ key }) => key)).size,
        frameBytesLeast: least,
        frameBytesMost: most,
        answerBytes: answerBytes(trial.lastAnswer),
        framesPerIteration: trial.answeredCount,
        mostUnanswered: trial.mostUnanswered,
      };
    },
    async iteration({ sides, load }) {
      await fly(sides.ours.client, load);
    },
    async extras({ sides, load, alone }) {
      const compared = await compareSides(sides, {
        rounds: 60,
        load: async (side) => (await fly(side, load)).latenciesMs,
        opsPerLoadRound: LOAD.count,
        roundTrips: async (side) => (await fly(side, alone)).latenciesMs,
      });
      return {
        ...compared,
        oursMessagesPerSecond: 2 * compared.oursOpsPerSecond,
        referenceMessagesPerSecond: 2 * compared.referenceOpsPerSecond,
      };
    },
    teardown: ({ sides }) => stopSides(sides),
  }),
];

export default entries;
