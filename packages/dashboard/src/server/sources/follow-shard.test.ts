// Proves when a follower gives up a connection: a shard that answers nothing is dialled again, and one whose
// status is late while its snapshot comes is not, because the snapshot would begin again and never end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime, type Runtime, sleep, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { State } from '@bigfleet/engine';
import { captureSink, createLogger } from '@bigfleet/telemetry';
import {
  createGate,
  encodeInit,
  rawStream,
  Router,
  ShardQuery,
  WatchFrameSchema,
} from '@bigfleet/wire';
import { createMemoryNetwork, perfectLink } from '@bigfleet/wire/memory';
import { createFleet } from '../../model/index.ts';
import { nobodyOutside } from '../../testing/synthetic-fleet.ts';
import { ShardFollower } from './follow-shard.ts';

const ADDRESS = 'shard-0:7780';
const PARTS = 30;
const FRAME_EVERY_MS = 1_000;
const HOUR_MS = 3_600_000;

const never = (): Promise<never> => new Promise<never>(() => {});
const none = async function* (): AsyncGenerator<never, void> {};

interface Stage {
  readonly time: VirtualRuntime;
  readonly machines: () => number;
  readonly stop: () => Promise<void>;
}

type Frame = Parameters<typeof encodeInit<typeof WatchFrameSchema>>[1]['frame'];
type Watch = (runtime: Runtime, signal: AbortSignal) => AsyncGenerator<Frame, void>;

const HELLO: Frame = {
  case: 'hello',
  value: { shardId: 'shard-0', shardEpoch: 1n, cycle: 1n, resumed: false },
};

/** A follower of a shard whose status never comes. */
function follow(watch: Watch, onListRecords: () => void = () => {}): Stage {
  const time = createVirtualRuntime({ seed: 'follow', drain: drainMicrotasks });
  const { runtime } = time;
  const network = createMemoryNetwork({ runtime, faults: { profile: perfectLink, events: [] } });
  const router = new Router({ gate: createGate({ transport: 'plaintext' }) });
  router.add(ShardQuery, {
    getShardStatus: never,
    watch: rawStream(async function* (_, { signal }) {
      for await (const frame of watch(runtime, signal)) {
        yield encodeInit(WatchFrameSchema, frame === undefined ? {} : { frame });
      }
    }),
    listRecords: () => {
      onListRecords();
      return none();
    },
    listMachines: none,
    listShortfalls: none,
    listSessions: none,
    listBrakes: none,
    explain: never,
  });
  network.listen(ADDRESS, router);
  const nowMs = (): number => Number(runtime.clock.unixNanos() / 1_000_000n);
  const fleet = createFleet({ nowMs, isSimulated: true, outside: nobodyOutside });
  const follower = new ShardFollower({
    runtime,
    logger: createLogger({ clock: runtime.clock, sink: captureSink() }),
    shard: 'shard-0',
    channel: network.connect({ from: 'dashboard', to: ADDRESS }),
    feed: fleet.shard('shard-0', ADDRESS),
    keys: { rack: [] },
  });
  const stopper = new AbortController();
  const ended = follower.run(stopper.signal);
  return {
    time,
    machines: () => fleet.sizes().machines,
    stop: async () => {
      stopper.abort(new Error('the test ends'));
      await time.runFor(10_000);
      await ended;
    },
  };
}

test('a snapshot that comes slowly is read to its end although no status comes', async () => {
  let streams = 0;
  const stage = follow(async function* (runtime, signal) {
    streams += 1;
    yield HELLO;
    for (let part = 0; part < PARTS; part++) {
      await sleep(runtime, FRAME_EVERY_MS, signal);
      const machines = [{ machineId: `m-${part}`, state: State.Idle }];
      yield { case: 'snapshot', value: { machines } };
    }
    yield { case: 'snapshotEnd', value: { machines: PARTS, needs: 0 } };
    await sleep(runtime, HOUR_MS, signal);
  });
  await stage.time.runFor((PARTS + 5) * FRAME_EVERY_MS);
  assert.deepEqual([streams, stage.machines()], [1, PARTS]);
  await stage.stop();
});

test('a shard that answers nothing is dialled again', async () => {
  let streams = 0;
  const stage = follow(async function* (runtime, signal) {
    streams += 1;
    yield HELLO;
    await sleep(runtime, HOUR_MS, signal);
  });
  await stage.time.runFor(60_000);
  assert.ok(streams > 1, `${streams} streams`);
  await stage.stop();
});

test('a record of a clock that ran ahead does not end the back-fill of what is missed later', async () => {
  const listedIn = new Set<number>();
  let streams = 0;
  const stage = follow(
    async function* (runtime, signal) {
      streams += 1;
      yield HELLO;
      yield { case: 'snapshotEnd', value: { machines: 0, needs: 0 } };
      const inTwoDays = runtime.clock.unixNanos() + 48n * 3_600_000_000_000n;
      if (streams === 1) {
        const value = { shardEpoch: 1n, cycle: 2n, atUnixNanos: inTwoDays };
        yield { case: 'record', value };
        return;
      }
      await sleep(runtime, HOUR_MS, signal);
    },
    () => void listedIn.add(streams),
  );
  await stage.time.runFor(4_000);
  assert.equal(streams, 2);
  assert.deepEqual([...listedIn], [1, 2], 'each snapshot asks for what was decided in between');
  await stage.stop();
});
