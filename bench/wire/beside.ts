// Ours beside the bare library: one server process each, both clients in the measuring process.
// Rounds alternate, so a slow minute of the machine hits both. `ratio` is throughput with many
// operations in flight; `roundTrip…` is the same exchange one at a time, on an idle connection.
// `cpuRatio` is the same comparison in processor time of client and server: it holds still when
// the machine has other work, which wall time does not.

import type { Runtime } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { compareInterleaved, type Interleaved } from '../harness/index.ts';
import type { PeerProcess } from '../harness/peer-process.ts';
import { dialBare } from './bare.ts';
import { dialOurs } from './ours.ts';
import { startPeer } from './peer.ts';
import type { ClientSide, SideName } from './side.ts';
import { STEADY_CODEC_FLAGS } from './steady-codec.ts';

interface Side {
  readonly server: PeerProcess;
  readonly client: ClientSide;
}

export interface Sides {
  readonly ours: Side;
  readonly bare: Side;
}

export async function startSides(seed: number): Promise<Sides> {
  const runtime = realRuntime({ seed: String(seed) });
  return {
    ours: await startSide(runtime, 'ours', seed),
    bare: await startSide(runtime, 'bare', seed),
  };
}

export async function stopSides({ ours, bare }: Sides): Promise<void> {
  for (const { client, server } of [ours, bare]) {
    client.close();
    await server.stop();
  }
}

async function startSide(runtime: Runtime, side: SideName, seed: number): Promise<Side> {
  const server = startPeer({ role: 'server', side, seed }, STEADY_CODEC_FLAGS);
  const address = String(await server.ask('address'));
  return { server, client: side === 'ours' ? dialOurs(runtime, address) : dialBare(address) };
}

/** One round at a side: performs the stated number of operations, returns their latencies. */
export type Round = (side: ClientSide) => Promise<Float64Array>;

export interface CompareOptions {
  readonly rounds: number;
  readonly load: Round;
  readonly opsPerLoadRound: number;
  readonly roundTrips: Round;
}

/** Our throughput ÷ the bare library's, of every comparison here. */
export const LEAST_RATIO = 0.9;
const UNDECIDED_FACTOR = 3;

/** Both sides must have compiled their hot code before anything counts. */
const WARMUP_ROUNDS = 10;

export async function compareSides(sides: Sides, options: CompareOptions): Promise<Interleaved> {
  const cpu = { ours: await startCpuMeter(sides.ours), bare: await startCpuMeter(sides.bare) };
  const load = await compareDecidedly(options.rounds, (rounds) =>
    compareInterleaved({
      ours: () => cpu.ours.around(() => options.load(sides.ours.client)),
      reference: () => cpu.bare.around(() => options.load(sides.bare.client)),
      rounds,
      warmupRounds: WARMUP_ROUNDS,
      opsPerRound: options.opsPerLoadRound,
    }),
  );
  const cpuRatio = (await cpu.bare.micros()) / (await cpu.ours.micros());
  const trips = await compareInterleaved({
    ours: () => options.roundTrips(sides.ours.client),
    reference: () => options.roundTrips(sides.bare.client),
    rounds: options.rounds,
    warmupRounds: WARMUP_ROUNDS,
  });
  return {
    ...load,
    cpuRatio,
    roundTripRatio: trips.ratio,
    oursRoundTripP50Ms: trips.oursP50Ms,
    oursRoundTripP99Ms: trips.oursP99Ms,
    referenceRoundTripP50Ms: trips.referenceP50Ms,
    referenceRoundTripP99Ms: trips.referenceP99Ms,
  };
}

/** On a busy machine the interval may hold the bar: then nothing is decided, and more rounds are. */
async function compareDecidedly(
  rounds: number,
  compare: (rounds: number) => Promise<Interleaved>,
): Promise<Interleaved> {
  const first = await compare(rounds);
  const isDecided = first.ratioLow >= LEAST_RATIO || first.ratioHigh < LEAST_RATIO;
  return isDecided ? first : compare(UNDECIDED_FACTOR * rounds);
}

interface CpuMeter {
  /** Counts the client's share: both clients live in this process, one round at a time. */
  around<Value>(round: () => Promise<Value>): Promise<Value>;
  /** Client and server since the start; the server's process serves this side alone. */
  micros(): Promise<number>;
}

async function startCpuMeter({ server }: Side): Promise<CpuMeter> {
  const serverMicros = (): Promise<number> => server.askNumber('cpuMicros');
  const serverStart = await serverMicros();
  let clientMicros = 0;
  return {
    async around(round) {
      const start = process.cpuUsage();
      const value = await round();
      const { user, system } = process.cpuUsage(start);
      clientMicros += user + system;
      return value;
    },
    micros: async () => clientMicros + (await serverMicros()) - serverStart,
  };
}
