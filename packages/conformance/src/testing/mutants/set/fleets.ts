// What goes wrong with a large or busy fleet, and not before.

import { type Runtime, sleep } from '@bigfleet/base';
import { aroundMutations, onLists } from '../../../harness/testing/tamperings.ts';
import type { Tampering } from '../../../harness/testing/tamper.ts';
import { ids, type Mutant } from '../mutant.ts';
import { inFront } from '../testing/front.ts';

const DRIVER_LIMIT = 512;
const CLOUD_CALL_MS = 6;
const LAUNCH_MS = 300;
const RECONCILE_MS = 300;
const RECONCILE_EVERY_GETS = 20;

export const fleetMutants: readonly Mutant[] = [
  {
    name: 'full-list-is-cut',
    wrong: 'A full List stops at 512 machines.',
    story: 'The database driver has a default limit that no small fleet reaches.',
    caughtBy: ids('B1101 B1103 B1107'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onLists((inventory, { maxResults, since }) =>
          maxResults === undefined && since === undefined
            ? { ...inventory, machines: inventory.machines.slice(0, DRIVER_LIMIT) }
            : inventory,
        ),
      ),
  },
  {
    name: 'delta-holds-neighbours',
    wrong: 'A delta that is not empty also holds a machine that nobody touched.',
    story: 'Changes are tracked per page of the store, and whole pages are sent.',
    caughtBy: ids('B1102'),
    isSeenByBaseline: false,
    make: () => inFront(() => neighbours),
  },
  {
    name: 'list-asks-the-cloud',
    wrong: 'List takes 6 ms per machine.',
    story: 'Every record is refreshed from the cloud before it is sent.',
    caughtBy: ids('B1106 B1107'),
    isSeenByBaseline: false,
    make: () => inFront(askingTheCloud),
  },
  {
    name: 'get-waits-for-reconcile',
    wrong: 'Every twentieth Get takes 300 ms.',
    story: 'Reads wait for the lock that the reconcile loop holds.',
    caughtBy: ids('B1106'),
    isSeenByBaseline: false,
    make: () => inFront(waitingGets),
  },
  {
    name: 'create-waits-for-the-launch',
    wrong: 'Create answers when the cloud has launched the host, 300 ms later.',
    story: 'The work is done in the handler; a shard that fills a fleet waits for each machine.',
    caughtBy: ids('B1106'),
    isSeenByBaseline: false,
    make: () =>
      inFront((runtime) =>
        aroundMutations(async (call, forward, rpc) => {
          const answer = await forward(call);
          if (rpc === 'create' && answer.ok) await sleep(runtime, LAUNCH_MS);
          return answer;
        }),
      ),
  },
];

const neighbours: Tampering = (real) => ({
  list: async (query = {}) => {
    const answer = await real.list(query);
    const isDelta = query.since !== undefined && query.maxResults === undefined;
    if (!answer.ok || !isDelta || answer.value.machines.length === 0) return answer;
    const full = await real.list();
    const changed = new Set(answer.value.machines.map(({ id }) => id));
    const neighbour = full.ok ? full.value.machines.find(({ id }) => !changed.has(id)) : undefined;
    if (neighbour === undefined) return answer;
    const machines = [...answer.value.machines, neighbour];
    return { ok: true, value: { ...answer.value, machines } };
  },
});

function askingTheCloud(runtime: Runtime): Tampering {
  return (real) => ({
    list: async (query) => {
      const answer = await real.list(query);
      if (answer.ok) await sleep(runtime, CLOUD_CALL_MS * answer.value.machines.length);
      return answer;
    },
  });
}

function waitingGets(runtime: Runtime): Tampering {
  let count = 0;
  return (real) => ({
    get: async (machineId) => {
      count++;
      if (count % RECONCILE_EVERY_GETS === 0) await sleep(runtime, RECONCILE_MS);
      return real.get(machineId);
    },
  });
}
