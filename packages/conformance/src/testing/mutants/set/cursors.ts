// Wrong cursors and deltas: what an incremental List promises and does not hold.

import type { Runtime } from '@bigfleet/base';
import type { Endpoint, Inventory, ListQuery } from '../../../harness/endpoint.ts';
import type { MachineView } from '../../../harness/machine.ts';
import type { Tampering } from '../../../harness/testing/tamper.ts';
import { aroundMutations, onLists, refused } from '../../../harness/testing/tamperings.ts';
import { ids, type Mutant } from '../mutant.ts';
import { inFront } from '../testing/front.ts';

const TICK_MS = 100;

export const cursorMutants: readonly Mutant[] = [
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
    name: 'delta-loses-the-first-change',
    wrong: 'A delta lacks the change that came right after its cursor.',
    story: 'The cursor is handed out as the next revision and read as the last one.',
    caughtBy: ids('B905'),
    isSeenByBaseline: false,
    make: () => inFront(() => lateDeltas),
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
];

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

/** Pages, which other callers thread, are right: only an uncapped delta starts too late. */
const lateDeltas: Tampering = (real) => ({
  list: async (query = {}) => {
    const { since, maxResults } = query;
    const answer = await real.list(query);
    const sinceRevision = since && kitRevision(since);
    if (!answer.ok || sinceRevision === undefined || maxResults !== undefined) return answer;
    const next = await real.list({ since, maxResults: 1 });
    if (!next.ok || kitRevision(next.value.revision) !== sinceRevision + 1) return answer;
    const lost = next.value.machines[0]?.id;
    const machines = answer.value.machines.filter(({ id }) => id !== lost);
    return { ok: true, value: { ...answer.value, machines } };
  },
});

/** The number in a cursor of the kit, which stands for the store behind the wrong service. */
function kitRevision(cursor: Uint8Array): number | undefined {
  const digits = /^bf1\.[^.]+\.(\d+)\.[0-9a-f]{8}$/.exec(Buffer.from(cursor).toString())?.[1];
  return digits === undefined ? undefined : Number(digits);
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

function withMachine(inventory: Inventory, machine: MachineView | undefined): Inventory {
  const { machines } = inventory;
  const isThere = machine === undefined || machines.some(({ id }) => id === machine.id);
  return isThere ? inventory : { ...inventory, machines: [...machines, machine] };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
