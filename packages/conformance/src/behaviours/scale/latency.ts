// B1106, B1108: calls accept and return at once, however large the fleet. Budgets are not scaled:
// they bound acceptance, which no substrate slows down.

import { type Check, type CheckContext, CheckFailed, defineCheck } from '../../harness/check.ts';
import type { Answer } from '../../harness/endpoint.ts';
import { accepted, acknowledged, ensure } from '../../harness/expect.ts';
import { fanout } from '../../harness/fanout.ts';
import { pickN } from '../../harness/pick.ts';
import { mustReach } from '../../harness/reach.ts';
import { release } from '../../harness/walk.ts';

const GETS = 120;
const LISTS = 120;
const CREATES = 60;
const QUICK_BUDGET_MS = 250;
const LIST_BUDGET_MS = 2_000;
const PARALLEL = 16;
const PARALLEL_SETTLE_MS = 30_000;

async function latencyBudgets(context: CheckContext): Promise<void> {
  const { endpoint } = context;
  const ids = await pickN(context, CREATES);
  const at = (index: number): string => ids[index % ids.length] ?? '';
  await withinBudget(context, 'Get', GETS, QUICK_BUDGET_MS, (index) => endpoint.get(at(index)));
  await withinBudget(context, 'List', LISTS, LIST_BUDGET_MS, () => endpoint.list());
  await withinBudget(context, 'Create', CREATES, QUICK_BUDGET_MS, (index) =>
    endpoint.create({ machineId: at(index) }),
  );
  for (const machineId of ids) await mustReach(context, machineId, 'IDLE', PARALLEL_SETTLE_MS);
  await release(context, ...ids);
}

async function withinBudget(
  context: CheckContext,
  rpc: string,
  count: number,
  budgetMs: number,
  call: (index: number) => Promise<Answer<unknown>>,
): Promise<void> {
  const { clock } = context.runtime;
  const tookMs: number[] = [];
  for (let index = 0; index < count; index++) {
    const startMs = clock.monotonicMs();
    const answer = await call(index);
    tookMs.push(clock.monotonicMs() - startMs);
    accepted(answer, `${rpc} number ${index + 1}`);
  }
  const p99Ms = percentile99(tookMs);
  context.note(`${rpc} p99 ${p99Ms.toFixed(1)} ms`);
  ensure(
    p99Ms <= budgetMs,
    () => `${rpc}: p99 of ${count} calls is ${p99Ms.toFixed(1)} ms, the budget is ${budgetMs} ms`,
  );
}

/** Nearest rank. */
export function percentile99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(0.99 * sorted.length) - 1] ?? Number.NaN;
}

async function parallelThroughput(context: CheckContext): Promise<void> {
  const { clock } = context.runtime;
  const ids = await pickN(context, PARALLEL);
  const startMs = clock.monotonicMs();
  const answers = await fanout(PARALLEL, (index) =>
    context.endpoint.create({ machineId: ids[index] ?? '' }),
  );
  const operationIds = new Set(
    answers.map((answer, index) => {
      const what = `Create ${ids[index]} beside ${PARALLEL - 1} others`;
      return acknowledged(answer, what).operationId;
    }),
  );
  if (operationIds.size !== PARALLEL) {
    throw new CheckFailed(
      `${PARALLEL} parallel Creates: expected as many operation ids, got ${operationIds.size}`,
    );
  }
  await Promise.all(ids.map((id) => mustReach(context, id, 'IDLE', PARALLEL_SETTLE_MS)));
  const seconds = Math.max(clock.monotonicMs() - startMs, 1) / 1000;
  context.note(`${(PARALLEL / seconds).toFixed(1)} machines/s`);
  await release(context, ...ids);
}

export const latencyChecks: readonly Check[] = [
  defineCheck('B1106', 'Speed', latencyBudgets),
  defineCheck('B1108', 'Speed', parallelThroughput),
];
