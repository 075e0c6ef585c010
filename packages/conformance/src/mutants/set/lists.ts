// Wrong filters, caps, pages and cursors.

import type { Runtime } from '@bigfleet/base';
import { aroundMutations, onLists, refused } from '../../harness/testing/tamperings.ts';
import type { Endpoint, Inventory, ListQuery } from '../../harness/endpoint.ts';
import type { MachineView } from '../../harness/machine.ts';
import type { Tampering } from '../../harness/testing/tamper.ts';
import { ids, type Mutant } from '../mutant.ts';
import { inFront } from '../testing/front.ts';

const TICK_MS = 100;
const CACHED_MS = 1_000;

export const listMutants: readonly Mutant[] = [
  {
    name: 'filter-is-too-wide',
    wrong: 'The filter of IDLE also returns CONFIGURED machines.',
    story: 'The query asks for "running", which both are.',
    caughtBy: ids('B901'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() => (real) => ({
        list: (query = {}) =>
          real.list(
            query.states?.includes('IDLE') === true
              ? { ...query, states: [...query.states, 'CONFIGURED'] }
              : query,
          ),
      })),
  },
  {
    name: 'cap-before-filter',
    wrong: 'The cap is applied first and the filter to what is left.',
    story: 'LIMIT inside, WHERE outside: a shard that asks for one free slot gets none.',
    caughtBy: ids('B901'),
    isSeenByBaseline: false,
    make: () => inFront(() => capBeforeFilter),
  },
  {
    name: 'cap-is-off-by-one',
    wrong: 'A capped List returns one machine more.',
    story: 'One is fetched in advance to learn whether there is more, and is sent along.',
    caughtBy: ids('B902 B907 B1103'),
    isSeenByBaseline: true,
    make: () =>
      inFront(() => (real) => ({
        list: (query = {}) =>
          real.list(
            query.maxResults === undefined ? query : { ...query, maxResults: query.maxResults + 1 },
          ),
      })),
  },
  {
    name: 'garbage-cursor-is-an-error',
    wrong: 'A cursor that is not its own answers INVALID_ARGUMENT.',
    story: 'Strict parsing: after a restart of the provider every shard is stuck.',
    caughtBy: ids('B906 B909'),
    isSeenByBaseline: false,
    make: () => inFront(() => onForeignCursors(async () => refused('INVALID_ARGUMENT'))),
  },
  {
    name: 'garbage-cursor-is-empty',
    wrong: 'A cursor that is not its own answers with an empty delta.',
    story: 'Bytes that do not parse become a number that is beyond every revision.',
    caughtBy: ids('B906 B909'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onForeignCursors(async (real, query) => {
          const answer = await real.list(query);
          return answer.ok ? { ok: true, value: { ...answer.value, machines: [] } } : answer;
        }),
      ),
  },
  {
    name: 'cursor-is-parsed-leniently',
    wrong: 'A cursor with something behind it passes for the cursor.',
    story: 'A parser like parseInt, which stops at what it does not understand.',
    caughtBy: ids('B909'),
    isSeenByBaseline: false,
    make: () => inFront(lenientCursors),
  },
  {
    name: 'delta-includes-its-cursor',
    wrong: 'A delta repeats the last change before its cursor.',
    story: '"Since" is written as ≥; a quiet fleet is never quiet.',
    caughtBy: ids('B904 B907 B908 B909 B1103'),
    isSeenByBaseline: false,
    make: () => inFront(inclusiveDeltas),
  },
  {
    name: 'delta-loses-the-last-change',
    wrong: 'A delta lacks the youngest change.',
    story: 'The head is read before the transaction that it counts is visible.',
    caughtBy: ids('B903 B905 B906 B907 B909 B1005 B1102'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onLists((inventory, { since, maxResults }) => {
          const isDelta = since !== undefined && maxResults === undefined;
          return isDelta ? { ...inventory, machines: inventory.machines.slice(0, -1) } : inventory;
        }),
      ),
  },
  {
    name: 'only-creations-are-logged',
    wrong: 'A delta holds machines that were created, and none that changed otherwise.',
    story: 'The change log is written in Create, where the author tried it out.',
    caughtBy: ids('B905 B1102'),
    isSeenByBaseline: false,
    make: () => inFront(creationsOnly),
  },
  {
    name: 'tick-touches-a-machine',
    wrong: 'Every tenth of a second some machine counts as changed.',
    story: 'The reconcile loop writes back what it read, changed or not.',
    caughtBy: ids('B904 B907 B908 B909 B1103'),
    isSeenByBaseline: false,
    make: () => inFront(ticking),
  },
  {
    name: 'revision-is-a-clock',
    wrong: 'The revision is another one on every List, changes or not.',
    story: 'The time of the answer passes for a version of the content.',
    caughtBy: ids(
      'B904 B907 B908 B909 B1001 B1002 B1003 B1004 B1005 B1006 B1007 B1102 B1103 B1105',
    ),
    isSeenByBaseline: false,
    make: () => inFront(clockRevisions),
  },
  {
    name: 'head-cursor-after-the-first-page',
    wrong: 'A truncated page that continues another carries the head revision.',
    story: 'The revision of the answer is that of the store, not of the last record sent.',
    caughtBy: ids('B1103'),
    isSeenByBaseline: false,
    make: () => inFront(() => headCursors),
  },
  {
    name: 'page-cursor-is-its-highest',
    wrong: 'Pages read one partition after the other, and each carries its highest revision.',
    story: 'What a page skipped below that revision is never sent again.',
    caughtBy: ids('B907 B1103'),
    isSeenByBaseline: false,
    make: () => inFront(() => highestCursors),
  },
  {
    name: 'list-repeats-a-join',
    wrong: 'List returns a bound machine once per entry of its metadata.',
    story: 'Machines are joined with their metadata, and nobody groups the rows.',
    caughtBy: ids('B402 B406 B408 B1001 B1002 B1003 B1004 B1005 B1006 B1007'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onLists((inventory) => ({
          ...inventory,
          machines: inventory.machines.flatMap((machine) =>
            machine.metadata.size > 1 ? Array.from(machine.metadata, () => machine) : [machine],
          ),
        })),
      ),
  },
  {
    name: 'list-is-cached',
    wrong: 'List answers with what was true up to a second ago.',
    story: 'A cache in front of the database keeps the dashboard fast.',
    caughtBy: ids(
      'B305 B401 B402 B403 B406 B408 B501 B707 B805 B901 B1004 B1105 B1202 B1203 B1205',
    ),
    isSeenByBaseline: true,
    make: () => inFront(cached),
  },
];

const capBeforeFilter: Tampering = (real) => ({
  list: async (query = {}) => {
    const { states, ...unfiltered } = query;
    if (states === undefined || query.maxResults === undefined) return real.list(query);
    const answer = await real.list(unfiltered);
    if (!answer.ok) return answer;
    const machines = answer.value.machines.filter(({ state }) => states.includes(state));
    return { ok: true, value: { ...answer.value, machines } };
  },
});

function onForeignCursors(answer: (...call: [Endpoint, ListQuery]) => ListAnswer): Tampering {
  const given = new Set<string>();
  return (real) => ({
    list: async (query = {}) => {
      const isForeign = query.since !== undefined && !given.has(hex(query.since));
      const answered = await (isForeign ? answer(real, query) : real.list(query));
      if (answered.ok) given.add(hex(answered.value.revision));
      return answered;
    },
  });
}

type ListAnswer = ReturnType<Endpoint['list']>;

function lenientCursors(): Tampering {
  const given = new Map<string, Uint8Array>();
  return (real) => ({
    list: async (query = {}) => {
      const since = query.since && hex(query.since);
      const known = [...given].find(([text]) => since?.startsWith(text) === true)?.[1];
      const answer = await real.list(known === undefined ? query : { ...query, since: known });
      if (answer.ok) given.set(hex(answer.value.revision), answer.value.revision);
      return answer;
    },
  });
}

function inclusiveDeltas(): Tampering {
  let lastId: string | undefined;
  const watched = aroundMutations(async (call, forward) => {
    const answer = await forward(call);
    if (answer.ok) lastId = call.machineId;
    return answer;
  });
  return (real) => ({
    ...watched(real),
    list: async (query = {}) => {
      const answer = await real.list(query);
      if (!answer.ok || query.since === undefined) return answer;
      const full = await real.list();
      const all = full.ok ? full.value.machines : [];
      const last = all.find(({ id }) => id === lastId) ?? all.at(-1);
      return { ok: true, value: withMachine(answer.value, last) };
    },
  });
}

function creationsOnly(): Tampering {
  const changedOtherwise = new Set<string>();
  const watched = aroundMutations(async (call, forward, rpc) => {
    const answer = await forward(call);
    if (answer.ok && rpc === 'create') changedOtherwise.delete(call.machineId);
    else if (answer.ok) changedOtherwise.add(call.machineId);
    return answer;
  });
  const listed = onLists((inventory, { since }) => ({
    ...inventory,
    machines:
      since === undefined
        ? inventory.machines
        : inventory.machines.filter(({ id }) => !changedOtherwise.has(id)),
  }));
  return (real) => ({ ...watched(real), ...listed(real) });
}

function ticking({ clock }: Runtime): Tampering {
  const givenMs = new Map<string, number>();
  return (real) => ({
    list: async (query = {}) => {
      const answer = await real.list(query);
      if (!answer.ok) return answer;
      const nowMs = clock.monotonicMs();
      const sinceMs = query.since && givenMs.get(hex(query.since));
      const given = hex(answer.value.revision);
      if (!givenMs.has(given)) givenMs.set(given, nowMs);
      if (sinceMs === undefined || nowMs - sinceMs < TICK_MS) return answer;
      const full = await real.list();
      const touched = full.ok ? full.value.machines[0] : undefined;
      return { ok: true, value: withMachine(answer.value, touched) };
    },
  });
}

function clockRevisions({ clock }: Runtime): Tampering {
  const cursors = new Map<string, Uint8Array>();
  return (real) => ({
    list: async (query = {}) => {
      const since = query.since && (cursors.get(hex(query.since)) ?? query.since);
      const answer = await real.list({ ...query, since });
      if (!answer.ok) return answer;
      const revision = Buffer.from(`at ${clock.unixNanos()}`);
      cursors.set(hex(revision), answer.value.revision);
      return { ok: true, value: { ...answer.value, revision } };
    },
  });
}

const headCursors: Tampering = (real) => ({
  list: async (query = {}) => {
    const answer = await real.list(query);
    if (!answer.ok || query.since === undefined) return answer;
    const isCut = answer.value.machines.length === query.maxResults;
    const head = isCut ? await real.list() : answer;
    return head.ok ? { ok: true, value: { ...answer.value, revision: head.value.revision } } : head;
  },
});

const highestCursors: Tampering = (real) => ({
  list: async (query = {}) => {
    const { maxResults } = query;
    if (maxResults === undefined || query.states !== undefined) return real.list(query);
    const changes = await inOrder(real, query.since);
    const page = changes.toSorted((a, b) => partitionOf(a) - partitionOf(b)).slice(0, maxResults);
    if (page.length === 0) return real.list(query);
    const highest = changes.findLast((change) => page.includes(change));
    const revision = highest?.revision ?? new Uint8Array();
    return { ok: true, value: { machines: page.map(({ machine }) => machine), revision } };
  },
});

interface Change {
  readonly machine: MachineView;
  readonly revision: Uint8Array;
}

/** Of two, by the last character of the id. */
function partitionOf({ machine }: Change): number {
  return (machine.id.codePointAt(machine.id.length - 1) ?? 0) % 2;
}

/** Every machine after the cursor with a revision of its own, lowest first. */
async function inOrder(real: Endpoint, since: Uint8Array | undefined): Promise<readonly Change[]> {
  const changes: Change[] = [];
  let cursor = since;
  for (;;) {
    const answer = await real.list({ since: cursor, maxResults: 1 });
    const machine = answer.ok ? answer.value.machines[0] : undefined;
    if (!answer.ok || machine === undefined) return changes;
    changes.push({ machine, revision: answer.value.revision });
    cursor = answer.value.revision;
  }
}

function cached({ clock }: Runtime): Tampering {
  let kept: { readonly inventory: Inventory; readonly atMs: number } | undefined;
  return (real) => ({
    list: async (query = {}) => {
      if (query.since !== undefined) return real.list(query);
      const nowMs = clock.monotonicMs();
      if (kept === undefined || nowMs - kept.atMs > CACHED_MS) {
        const answer = await real.list();
        if (!answer.ok) return answer;
        kept = { inventory: answer.value, atMs: nowMs };
      }
      const { machines, revision } = kept.inventory;
      const { states, maxResults } = query;
      const wanted = machines.filter(({ state }) => states?.includes(state) ?? true);
      return { ok: true, value: { machines: wanted.slice(0, maxResults), revision } };
    },
  });
}

function withMachine(inventory: Inventory, machine: MachineView | undefined): Inventory {
  const { machines } = inventory;
  const isThere = machine === undefined || machines.some(({ id }) => id === machine.id);
  return isThere ? inventory : { ...inventory, machines: [...machines, machine] };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
