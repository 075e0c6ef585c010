// B901, B902, B906: filters, caps and nonsense cursors. Reads are judged by membership; a machine
// that moved between two Lists is read again before it counts as a finding.

import { type Check, type CheckContext, defineCheck } from '../../harness/check.ts';
import { ensure } from '../../harness/expect.ts';
import {
  distinctById,
  fullList,
  idsOf,
  listed,
  missingFrom,
  someOf,
} from '../../harness/inventory.ts';
import { legalStates, type MachineView, type State } from '../../harness/machine.ts';
import { release, standardCluster, walkToConfigured, walkToIdle } from '../../harness/walk.ts';

const united: readonly State[] = ['SPECULATIVE', 'IDLE', 'CONFIGURED'];
const caps = [1, 2, 3];

async function exactUnion(context: CheckContext): Promise<void> {
  const idle = await walkToIdle(context);
  const configured = await walkToConfigured(context, { clusterId: standardCluster });
  const singles = new Map<State, ReadonlyMap<string, MachineView>>();
  for (const state of legalStates) singles.set(state, await filtered(context, [state]));
  const union = await filtered(context, united);
  const ofSingles = new Set(united.flatMap((state) => [...(singles.get(state)?.keys() ?? [])]));
  const inUnion = new Set(union.keys());
  const absent = await unmoved(context, missingFrom(inUnion, ofSingles), united);
  ensure(
    absent.length === 0,
    () => `List(${united.join('+')}) lacks ${someOf(absent)}, which single-state Lists return`,
  );
  const extra = await unmoved(context, missingFrom(ofSingles, inUnion), united);
  ensure(
    extra.length === 0,
    () => `List(${united.join('+')}) returns ${someOf(extra)}, which no single-state List does`,
  );
  ensure(singles.get('IDLE')?.has(idle) === true, `List(IDLE) lacks ${idle}`);
  ensure(
    singles.get('CONFIGURED')?.has(configured) === true,
    `List(CONFIGURED) lacks ${configured}`,
  );
  await nothingHidden(context, singles);
  await capCountsWhatIsWanted(context);
  await release(context, idle, configured);
}

/** Every machine of the whole inventory is found by filtering for its state. */
async function nothingHidden(
  context: CheckContext,
  singles: ReadonlyMap<State, ReadonlyMap<string, MachineView>>,
): Promise<void> {
  for (const { id, state } of (await fullList(context)).machines) {
    if (singles.get(state)?.has(id) === true) continue;
    const again = await filtered(context, [state]);
    const hidden = again.has(id) ? [] : await unmoved(context, [id], [state]);
    ensure(hidden.length === 0, () => `List(${state}) lacks ${id}, which List() shows as ${state}`);
  }
}

/** A cap on what is filtered out as well would hide the one free slot that a shard asks for. */
async function capCountsWhatIsWanted(context: CheckContext): Promise<void> {
  for (const state of ['IDLE', 'CONFIGURED'] as const) {
    const { machines } = await listed(context, { states: [state], maxResults: 1 });
    ensure(
      machines.length === 1,
      () => `List(${state}, max_results 1) hides what List(${state}) shows`,
    );
  }
}

async function filtered(
  context: CheckContext,
  states: readonly State[],
): Promise<ReadonlyMap<string, MachineView>> {
  const where = `List(${states.join('+')})`;
  const byId = distinctById((await listed(context, { states })).machines, where);
  for (const { id, state } of byId.values()) {
    ensure(states.includes(state), () => `${where} returns ${id}, which is ${state}`);
  }
  return byId;
}

/** Those that are still in one of `states`: the others moved between the two Lists. */
async function unmoved(
  context: CheckContext,
  ids: readonly string[],
  states: readonly State[],
): Promise<readonly string[]> {
  const still: string[] = [];
  for (const id of ids) {
    const answer = await context.endpoint.get(id);
    if (answer.ok && states.includes(answer.value.state)) still.push(id);
  }
  return still;
}

async function capIsCeiling(context: CheckContext): Promise<void> {
  const full = idsOf((await fullList(context)).machines);
  for (const maxResults of caps) {
    const where = `List(max_results ${maxResults})`;
    const page = distinctById((await listed(context, { maxResults })).machines, where);
    ensure(page.size <= maxResults, () => `${where} returns ${page.size} machines`);
    ensure(
      page.size >= 1 || full.size <= maxResults,
      () => `${where} returns nothing although there are ${full.size} machines`,
    );
    const strange = missingFrom(full, page.keys());
    ensure(strange.length === 0, () => `${where} returns ${someOf(strange)}, unknown to List()`);
  }
  const uncapped = idsOf((await listed(context, { maxResults: 0 })).machines);
  ensure(
    uncapped.size === full.size,
    () => `List(max_results 0) returns ${uncapped.size} machines, List() ${full.size}`,
  );
}

async function garbageCursor(context: CheckContext): Promise<void> {
  const full = idsOf((await fullList(context)).machines);
  const cursors: readonly (readonly [string, Uint8Array | undefined])[] = [
    ['unset', undefined],
    ['empty', new Uint8Array()],
    ['text', new TextEncoder().encode('no cursor of yours')],
    ['5 binary bytes', Uint8Array.of(0x00, 0xff, 0x80, 0xfe, 0x01)],
    ['4096 × 0xDE', new Uint8Array(4096).fill(0xde)],
  ];
  for (const [name, since] of cursors) {
    const ids = idsOf((await listed(context, { since })).machines);
    const absent = missingFrom(ids, full);
    ensure(
      absent.length === 0,
      () => `List with a garbage cursor (${name}) is no full list: it lacks ${someOf(absent)}`,
    );
  }
}

export const filterChecks: readonly Check[] = [
  defineCheck('B901', 'Listing', exactUnion),
  defineCheck('B902', 'Listing', capIsCeiling),
  defineCheck('B906', 'Listing', garbageCursor),
];
