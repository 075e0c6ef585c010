// Wrong filters, caps and pages.

import type { Runtime } from '@bigfleet/base';
import type { Endpoint, Inventory } from '../../../harness/endpoint.ts';
import type { MachineView } from '../../../harness/machine.ts';
import type { Tampering } from '../../../harness/testing/tamper.ts';
import { onLists } from '../../../harness/testing/tamperings.ts';
import { ids, type Mutant } from '../mutant.ts';
import { inFront } from '../testing/front.ts';

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
      'B211 B305 B401 B402 B403 B406 B408 B501 B707 B805 B901 B1004 B1105 B1202 B1203 B1205',
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
