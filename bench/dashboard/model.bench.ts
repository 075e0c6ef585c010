// The dashboard's model at its ceiling (dashboard §1): 200 shards, 1,000 clusters, half a million machines.
// What it costs to take a fleet in, to hold a machine, to follow one cycle of one shard, and to answer the
// pages that look at everything.

import { createFleet, type Fleet } from '@bigfleet/dashboard';
import { CEILING, nobodyOutside, SyntheticFleet } from '@bigfleet/dashboard/testing';
import { type BenchEntry, defineBench, keep, measureRetained } from '../harness/index.ts';

const START_MS = 1_700_000_000_000;
const CYCLE_MS = 10_000;

interface Followed {
  readonly fleet: Fleet;
  readonly synthetic: SyntheticFleet;
  readonly bytesPerMachine: number;
  nowMs: number;
}

async function follow(): Promise<Followed> {
  const synthetic = new SyntheticFleet(CEILING);
  let nowMs = START_MS;
  const { value: fleet, bytes } = await measureRetained(() => {
    const made = createFleet({ nowMs: () => nowMs, isSimulated: true, outside: nobodyOutside });
    synthetic.begin(made, START_MS);
    return made;
  });
  const bytesPerMachine = bytes / fleet.sizes().machines;
  return {
    fleet,
    synthetic,
    bytesPerMachine,
    get nowMs() {
      return nowMs;
    },
    set nowMs(value) {
      nowMs = value;
    },
  };
}

/** A few rounds, so that decisions, history and observations are there to be looked at. */
async function lived(): Promise<Followed> {
  const followed = await follow();
  for (let round = 0; round < 3; round++) {
    followed.nowMs += CYCLE_MS;
    followed.synthetic.step(followed.nowMs);
  }
  return followed;
}

const shape = { machines: CEILING.machines, shards: CEILING.shards } as const;
const observe = ({ fleet, synthetic }: Followed): Record<keyof typeof shape, number> => ({
  machines: fleet.sizes().machines,
  shards: synthetic.shardCount,
});
const everything = {
  at: 0,
  shard: '',
  cluster: '',
  team: '',
  provider: '',
  zone: '',
  state: '',
  capacity: '',
  q: '',
} as const;

const pages: readonly (readonly [name: string, ask: (fleet: Fleet) => Promise<{ ok: boolean }>])[] =
  [
    ['now', (fleet) => fleet.answer('now', { at: 0 })],
    ['map', (fleet) => fleet.answer('map', { ...everything, by: 'place' })],
    ['cost', (fleet) => fleet.answer('cost', everything)],
    ['triage', (fleet) => fleet.answer('triage', { at: 0, limit: 500, shard: '', cluster: '' })],
  ];

const entries: readonly BenchEntry[] = [
  ...pages.map(([name, ask]) =>
    defineBench<Followed>({
      name: `dashboard/model/${name}/500k`,
      shape,
      warmup: 5,
      iterations: 50,
      measureAllocations: false,
      setup: lived,
      observe,
      async iteration({ fleet }) {
        const answer = await ask(fleet);
        if (!answer.ok) throw new Error(`${name} was refused`);
        keep(answer);
      },
      extras: ({ bytesPerMachine }) => ({ bytesPerMachine }),
    }),
  ),
  defineBench<Followed>({
    name: 'dashboard/model/past/500k',
    shape,
    warmup: 2,
    iterations: 20,
    measureAllocations: false,
    setup: lived,
    observe,
    // Another moment each time: a world that is kept ready would be free.
    async iteration({ fleet, nowMs }, index) {
      const answer = await fleet.answer('now', { at: nowMs - CYCLE_MS - 1 - (index % 1_000) });
      if (!answer.ok) throw new Error(answer.error.message);
      keep(answer);
    },
  }),
  defineBench<Followed>({
    name: 'dashboard/model/cycle/500k',
    shape,
    warmup: 50,
    iterations: 400,
    measureAllocations: false,
    setup: lived,
    observe,
    prepare(followed) {
      followed.nowMs += 50;
    },
    // One cycle of one shard: its engine included, which decides a corner of it.
    iteration({ synthetic, nowMs }, index) {
      synthetic.stepOne(index, nowMs);
    },
  }),
  defineBench<{ readonly synthetic: SyntheticFleet; fleet: Fleet | undefined }>({
    name: 'dashboard/model/ingest/500k',
    shape: { machines: CEILING.machines },
    warmup: 1,
    iterations: 5,
    measureAllocations: false,
    setup: () => ({ synthetic: new SyntheticFleet(CEILING), fleet: undefined }),
    observe({ synthetic }) {
      const fleet = createFleet({
        nowMs: () => START_MS,
        isSimulated: true,
        outside: nobodyOutside,
      });
      synthetic.begin(fleet, START_MS);
      return { machines: fleet.sizes().machines };
    },
    prepare(stage) {
      stage.fleet = createFleet({
        nowMs: () => START_MS,
        isSimulated: true,
        outside: nobodyOutside,
      });
    },
    iteration({ synthetic, fleet }) {
      if (fleet !== undefined) synthetic.begin(fleet, START_MS);
    },
  }),
];

export default entries;
