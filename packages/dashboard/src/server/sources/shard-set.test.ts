// Proves which shards are followed, and that a follower is left alone while the registry says the same.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { captureSink, createLogger } from '@bigfleet/telemetry';
import { createMemoryNetwork, perfectLink } from '@bigfleet/wire/memory';
import { createFleet } from '../../model/index.ts';
import { nobodyOutside } from '../../testing/synthetic-fleet.ts';
import { ShardSet } from './shard-set.ts';

test('a registry that lists a shard twice does not restart its follower', async () => {
  const time = createVirtualRuntime({ seed: 'set', drain: drainMicrotasks });
  const { runtime } = time;
  const memory = createMemoryNetwork({ runtime, faults: { profile: perfectLink, events: [] } });
  const dialled: string[] = [];
  const set = new ShardSet({
    runtime,
    logger: createLogger({ clock: runtime.clock, sink: captureSink() }),
    network: {
      connect: ({ target }) => {
        dialled.push(target);
        return memory.connect({ from: 'dashboard', to: target });
      },
    },
    fleet: createFleet({ nowMs: () => 0, isSimulated: true, outside: nobodyOutside }),
    keys: { rack: [] },
    fixed: [],
    onBug: (bug) => assert.fail(String(bug)),
  });
  const twice = [
    { shard: 'shard-0', address: 'a:1' },
    { shard: 'shard-0', address: 'b:1' },
  ];
  for (let poll = 0; poll < 3; poll++) set.register(twice);
  set.register(twice.toReversed());
  assert.equal(dialled.length, 1, `dialled ${dialled.join(', ')}`);
  set.register([{ shard: 'shard-0', address: 'c:1' }]);
  assert.equal(dialled.length, 2, 'an address that has changed is dialled');
  const stopped = set.stop();
  await time.runFor(10_000);
  await stopped;
});
