// Acknowledgements per second over HTTP, sixteen at a time as the operator writes them, beside the common
// client doing the same on the same server. The budget of `--qps` is off: the client is measured.

import { type BenchEntry, compareInterleaved, defineBench } from '../harness/index.ts';
import { type ClientProcess, Stage } from './stage.ts';

const REQUEST_COUNT = 1_000;
const ROUNDS = 6;

interface State {
  readonly stage: Stage;
  readonly ours: ClientProcess;
  readonly reference: ClientProcess;
  readonly requests: number;
}

const entries: readonly BenchEntry[] = [
  defineBench<State>({
    name: 'kube/acknowledge',
    shape: { requests: REQUEST_COUNT },
    warmup: 1,
    iterations: 5,
    opsPerIteration: REQUEST_COUNT,
    measureAllocations: false,
    bars: { 'extra.ratio': { min: 1 } },
    async setup({ seed }) {
      const stage = await Stage.start({ seed, pods: 0, requests: REQUEST_COUNT });
      const requests = await stage.server.askNumber('requestCount');
      return { stage, ours: stage.client('ours'), reference: stage.client('reference'), requests };
    },
    observe: ({ requests }) => ({ requests }),
    async iteration({ ours }) {
      await ours.acknowledge(REQUEST_COUNT);
    },
    async extras({ stage, ours, reference }) {
      const count = await stage.server.askNumber('acknowledgedCount');
      if (count !== REQUEST_COUNT) throw new Error(`${count} requests are Acknowledged`);
      return compareInterleaved({
        ours: () => ours.acknowledge(REQUEST_COUNT),
        reference: () => reference.acknowledge(REQUEST_COUNT),
        rounds: ROUNDS,
        opsPerRound: REQUEST_COUNT,
        warmupRounds: 1,
      });
    },
    teardown: ({ stage }) => stage.end(),
  }),
];

export default entries;
