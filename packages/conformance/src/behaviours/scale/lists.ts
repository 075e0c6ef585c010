// B1101–B1103, B1107: a large inventory is complete, in shape, exact in its deltas and pages.

import {
  type Check,
  type CheckContext,
  CheckFailed,
  SkipCheck,
  defineCheck,
} from '../../harness/check.ts';
import { ensure } from '../../harness/expect.ts';
import { mapLimited } from '../../harness/fanout.ts';
import { fullList, idsOf, listed, missingFrom, someOf } from '../../harness/inventory.ts';
import { quiescence } from '../../harness/quiescence.ts';
import { configureTo, release, standardCluster, walkNToIdle } from '../../harness/walk.ts';
import { threadPages } from '../list/pages.ts';
import { costFinding, identityFinding, placementFinding } from '../shape/records.ts';

const DELTA_MACHINES = 20;
const PAGE_SIZE = 500;
const SPARE_PAGES = 8;
const CURSOR_MANDATORY_ABOVE = 10_000;
const FULL_LIST_BUDGET_MS = 3_000;
const PARALLEL_SETTLE_MS = 30_000;

async function completeAndInShape(context: CheckContext): Promise<void> {
  const { machines } = await fullList(context);
  ensureCount(context, machines.length);
  for (const machine of machines) {
    const finding = identityFinding(machine) ?? placementFinding(machine) ?? costFinding(machine);
    if (finding !== undefined) throw new CheckFailed(finding);
  }
}

async function exactDelta(context: CheckContext): Promise<void> {
  needsCursor(context);
  const ids = await walkNToIdle(context, DELTA_MACHINES);
  const { revision } = await quiescence(context);
  await mapLimited(ids, ids.length, (machineId) =>
    configureTo(
      context,
      machineId,
      { clusterId: standardCluster },
      { withinMs: PARALLEL_SETTLE_MS },
    ),
  );
  const changed = idsOf((await listed(context, { since: revision })).machines);
  const absent = missingFrom(changed, ids);
  ensure(absent.length === 0, () => `the delta lacks ${someOf(absent)}, just configured`);
  const extra = missingFrom(new Set(ids), changed);
  ensure(extra.length === 0, () => `the delta holds ${someOf(extra)}, which nobody touched`);
  await release(context, ...ids);
}

async function pagingWholeFleet(context: CheckContext): Promise<void> {
  needsCursor(context);
  const known = idsOf((await quiescence(context)).machines);
  if (known.size <= PAGE_SIZE) {
    throw new SkipCheck('precondition-unmet', `needs more than ${PAGE_SIZE} machines: seed more`);
  }
  const maxPages = Math.ceil(known.size / PAGE_SIZE) + SPARE_PAGES;
  const options = { since: undefined, pageSize: PAGE_SIZE, known, maxPages };
  const { style, ids } = await threadPages(context, options);
  context.note(`${style}-style page cursors`);
  if (style === 'head') return;
  const lost = missingFrom(ids, known);
  ensure(lost.length === 0, () => `threading pages of ${PAGE_SIZE} never shows ${someOf(lost)}`);
}

async function fullListBudget(context: CheckContext): Promise<void> {
  const { clock } = context.runtime;
  await fullList(context);
  const startMs = clock.monotonicMs();
  const answer = await context.endpoint.list();
  const tookMs = clock.monotonicMs() - startMs;
  ensure(answer.ok, 'List() failed after a warm-up');
  ensureCount(context, answer.value.machines.length);
  context.note(`full List of ${answer.value.machines.length} machines: ${Math.round(tookMs)} ms`);
  ensure(
    tookMs <= FULL_LIST_BUDGET_MS,
    () => `List() took ${Math.round(tookMs)} ms, the budget is ${FULL_LIST_BUDGET_MS} ms`,
  );
}

function ensureCount({ scale }: CheckContext, count: number): void {
  ensure(
    count >= scale.seedCount,
    () => `List() returns ${count} machines, ${scale.seedCount} were seeded`,
  );
}

/**
 * Optional on a small fleet; without a cursor a large one costs a full list per cycle
 * (provider-contract §9).
 */
function needsCursor({ capabilities, scale }: CheckContext): void {
  if (capabilities.sinceRevision) return;
  ensure(
    scale.seedCount <= CURSOR_MANDATORY_ABOVE,
    () => `List carries no advancing revision; above ${CURSOR_MANDATORY_ABOVE} machines it must`,
  );
  throw new SkipCheck('capability-absent', 'List carries no advancing revision');
}

export const largeListChecks: readonly Check[] = [
  defineCheck('B1101', 'Listing', completeAndInShape),
  defineCheck('B1102', 'Listing', exactDelta),
  defineCheck('B1103', 'Listing', pagingWholeFleet),
  defineCheck('B1107', 'Speed', fullListBudget),
];
