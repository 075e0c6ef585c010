// B903–B905, B908, B909: what a cursor promises. Everything that changed after it, nothing when
// nothing did, and a full list when it is not a cursor of this provider.

import { type Check, type CheckContext, defineCheck } from '../../harness/check.ts';
import type { Ack, Answer } from '../../harness/endpoint.ts';
import { acknowledged, ensure } from '../../harness/expect.ts';
import {
  fullList,
  idsOf,
  listed,
  missingFrom,
  sameBytes,
  someOf,
} from '../../harness/inventory.ts';
import { isTransitional, type State } from '../../harness/machine.ts';
import { pickSpeculative } from '../../harness/pick.ts';
import { needsSinceRevision } from '../../harness/probe.ts';
import { quiescence } from '../../harness/quiescence.ts';
import { mustReach } from '../../harness/reach.ts';
import { poll, scaled } from '../../harness/wait.ts';
import {
  configureTo,
  drainToIdle,
  release,
  standardBlob,
  standardCluster,
  walkToIdle,
} from '../../harness/walk.ts';

const IDLE_WINDOW_MS = 750;
const IDLE_POLL_MS = 50;

async function advances(context: CheckContext): Promise<void> {
  needsSinceRevision(context);
  const before = await fullList(context);
  const machineId = await walkToIdle(context);
  const after = await fullList(context);
  ensure(
    !sameBytes(before.revision, after.revision),
    () => `List: the revision is the same before and after ${machineId} was created`,
  );
  await ensureDelta(context, before.revision, [machineId]);
  await release(context, machineId);
}

async function quietDeltaIsEmpty(context: CheckContext): Promise<void> {
  needsSinceRevision(context);
  const { revision } = await quiescence(context);
  await ensureEmpty(context, revision, 'a delta since the current revision');
}

/** Every kind of mutation: a log that only Create writes to would pass on creations alone. */
async function monotonic(context: CheckContext): Promise<void> {
  needsSinceRevision(context);
  const cursors = [(await fullList(context)).revision];
  const mutated: string[] = [];
  const note = async (what: string, machineId: string): Promise<void> => {
    mutated.push(machineId);
    const { revision } = await fullList(context);
    ensure(
      !sameBytes(cursors.at(-1) ?? revision, revision),
      () => `List: the revision did not change with ${what} of ${machineId}`,
    );
    cursors.push(revision);
  };
  const first = await walkToIdle(context);
  await note('the Create', first);
  await configureTo(context, first, { clusterId: standardCluster });
  await note('the Configure', first);
  const second = await walkToIdle(context);
  await note('the Create', second);
  await drainToIdle(context, first, 0n);
  await note('the Drain', first);
  for (const [at, cursor] of cursors.entries()) {
    await ensureDelta(context, cursor, mutated.slice(at));
  }
  const third = await cursorsInTransition(context);
  await release(context, first, second, third);
}

/**
 * A mutation is two changes of a machine. After a cursor that was taken before both, a delta that
 * starts one change too late still holds the machine, by the second one. Only a cursor that was given out in between
 * shows the loss. Transitions may be too fast for that; the report says so when all three were.
 */
async function cursorsInTransition(context: CheckContext): Promise<string> {
  const { endpoint } = context;
  const machineId = await pickSpeculative(context);
  const configure = { machineId, clusterId: standardCluster, blob: standardBlob };
  const seen = [
    await settledInDelta(context, machineId, 'IDLE', () => endpoint.create({ machineId })),
    await settledInDelta(context, machineId, 'CONFIGURED', () => endpoint.configure(configure)),
    await settledInDelta(context, machineId, 'IDLE', () =>
      endpoint.drain({ machineId, graceSeconds: 0n }),
    ),
  ];
  if (!seen.includes(true)) context.note('no transition was slow enough for a cursor within it');
  return machineId;
}

/** False when the machine had settled before a cursor could be had. */
async function settledInDelta(
  context: CheckContext,
  machineId: string,
  target: State,
  start: () => Promise<Answer<Ack>>,
): Promise<boolean> {
  acknowledged(await start(), `the call that brings ${machineId} to ${target}`);
  const { machines, revision } = await fullList(context);
  const state = machines.find(({ id }) => id === machineId)?.state;
  await mustReach(context, machineId, target);
  if (state === undefined || !isTransitional(state)) return false;
  const held = idsOf((await listed(context, { since: revision })).machines);
  ensure(
    held.has(machineId),
    () => `a delta lacks ${machineId}: ${state} when its cursor was given out, ${target} since`,
  );
  return true;
}

async function idleTicksDoNotBump(context: CheckContext): Promise<void> {
  needsSinceRevision(context);
  const { revision } = await quiescence(context);
  const forMs = scaled(context, IDLE_WINDOW_MS);
  await poll(context, { forMs, everyMs: IDLE_POLL_MS }, async () => {
    await ensureEmpty(context, revision, `a delta while nothing happens`);
    return undefined;
  });
}

async function opaqueRoundTrip(context: CheckContext): Promise<void> {
  needsSinceRevision(context);
  const { revision, machines } = await quiescence(context);
  const fleet = idsOf(machines);
  await ensureEmpty(context, revision, 'a delta since the exact bytes of the revision');
  const corrupted: readonly (readonly [string, Uint8Array])[] = [
    ['with "!" appended', Uint8Array.of(...revision, 0x21)],
    ['with "~" in front', Uint8Array.of(0x7e, ...revision)],
    ['with 00 FF appended', Uint8Array.of(...revision, 0x00, 0xff)],
  ];
  for (const [how, since] of corrupted) {
    const absent = missingFrom(idsOf((await listed(context, { since })).machines), fleet);
    ensure(
      absent.length === 0,
      () => `List with the revision ${how}: expected a full list, it lacks ${someOf(absent)}`,
    );
  }
  const flipped = Uint8Array.from(revision);
  flipped[flipped.length - 1] = (flipped.at(-1) ?? 0) ^ 1;
  const strange = missingFrom(fleet, idsOf((await listed(context, { since: flipped })).machines));
  ensure(
    strange.length === 0,
    () => `List with the revision's last bit flipped returns ${someOf(strange)}, unknown to List()`,
  );
}

async function ensureDelta(
  context: CheckContext,
  since: Uint8Array,
  expected: readonly string[],
): Promise<void> {
  const absent = missingFrom(idsOf((await listed(context, { since })).machines), expected);
  ensure(
    absent.length === 0,
    () => `a delta lacks ${someOf(absent)}, changed after its cursor was given out`,
  );
}

async function ensureEmpty(context: CheckContext, since: Uint8Array, what: string): Promise<void> {
  const { machines } = await listed(context, { since });
  ensure(
    machines.length === 0,
    () => `${what}: expected no machine, got ${someOf([...idsOf(machines)])}`,
  );
}

export const deltaChecks: readonly Check[] = [
  defineCheck('B903', 'Listing', advances),
  defineCheck('B904', 'Listing', quietDeltaIsEmpty),
  defineCheck('B905', 'Listing', monotonic),
  defineCheck('B908', 'Listing', idleTicksDoNotBump),
  defineCheck('B909', 'Listing', opaqueRoundTrip),
];
