// A process full of operators. Rounds are asked for by the bench and answered with milliseconds;
// whatever a session loses or is refused fails the round. Two spellings of each roll-up alternate,
// so that each is a change and none is skipped by its digest.

import type { Need } from '@bigfleet/engine';
import { churnWindow } from '../engine/churn.ts';
import { growToTwo, NEEDS_PER_CLUSTER as STEADY_NEEDS } from '../engine/cycle-fleet.ts';
import type { Answers } from '../harness/answer-questions.ts';
import type { OperatorsOrder } from './order.ts';
import { H2Stream } from './h2-stream.ts';
import { OperatorSession } from './operator-session.ts';
import { buildDemand, needsOf, NARROW_NEEDS, WIDE_NEEDS } from './shapes.ts';
import { nudgedFrame, rollupFrame } from './wire-rollup.ts';

/** Operators that dial at the same time; the others wait, as jittered reconnects would. */
const DIALLING_COUNT = 16;
/** Roll-ups on their way at the same time. */
const ROLLUPS_AT_ONCE = 256;
/** A tick changes a tenth of the clusters. */
const WINDOWS = 10;
const CHANGED_ROWS = 20;
const NARROW_CHANGED_ROWS = 2;
/** Of `steady`, per cluster and tick: 4 clusters are 100 changed rows, 52 actions, 104 transitions. */
const STEADY_CHANGED_ROWS = 25;
/** Rows that ask for a second machine, and give it back the next time. */
const GROWN_ROWS = 13;

interface Operator {
  readonly session: OperatorSession;
  readonly rows: number;
  /** Sent in turn; the second differs in as many rows as a tick changes. */
  readonly frames: readonly [Buffer, Buffer];
  readonly rollupBytes: number;
  next: 0 | 1;
}

export async function runOperators(order: OperatorsOrder): Promise<Answers> {
  const fleet = buildDemand(order.shape);
  const demands = fleet.clusters
    .filter((_, at) => at % order.stride === order.first)
    .map((cluster) => [cluster, needsOf(fleet, cluster)] as const);
  let operators: readonly Operator[] = [];
  const withRows = (rows: number): readonly Operator[] =>
    operators.filter((operator) => operator.rows === rows);
  return {
    open: async () => {
      const startMs = performance.now();
      operators = await openAll(order, demands);
      return performance.now() - startMs;
    },
    sessionCount: () => operators.filter(({ session }) => !session.isLost).length,
    lostCount: () => operators.filter(({ session }) => session.isLost).length,
    rowCount: () => operators.reduce((sum, { rows }) => sum + rows, 0),
    bootstrapCount: () => operators.reduce((sum, { session }) => sum + session.bootstrapCount, 0),
    rollupBytes: (rows) => withRows(rows)[0]?.rollupBytes ?? 0,
    /** Of this process, in milliseconds: what driving costs. */
    cpuMs: () => cpuMs(),
    /** Everybody, once. */
    first: () => timedRound(operators),
    tick: (at) => timedRound(operators.filter((_, index) => index % WINDOWS === at % WINDOWS)),
    /** As the engine's own bench: what a tick changes, and what follows, is in a tenth. */
    steadyTick: (at) => timedRound(steadyWindow(operators, at)),
    narrow: () => timedRound(withRows(NARROW_NEEDS)),
    /** So many from each of the wide ones, as fast as they are taken. */
    wide: (count) => timedRounds(withRows(WIDE_NEEDS), count),
  };
}

async function openAll(
  { target, certificates }: OperatorsOrder,
  demands: readonly (readonly [string, readonly Need[]])[],
): Promise<readonly Operator[]> {
  const operators: Operator[] = [];
  await inParallel(demands, DIALLING_COUNT, async ([clusterId, needs]) => {
    const session = new OperatorSession({ clusterId, target, certificates });
    await session.opened();
    const [one, other] = [rollupFrame(clusterId, needs), changedFrame(clusterId, needs)];
    const frames = [H2Stream.framesOf(one), H2Stream.framesOf(other)] as const;
    operators.push({
      session,
      rows: needs.length,
      frames,
      rollupBytes: one.length,
      next: 0,
    });
  });
  return operators;
}

/** A tenth of a narrow roll-up changes, a hundredth of a wide one; in `steady` machines too. */
function changedFrame(clusterId: string, needs: readonly Need[]): Uint8Array {
  if (needs.length === NARROW_NEEDS) return nudgedFrame(clusterId, needs, NARROW_CHANGED_ROWS);
  if (needs.length !== STEADY_NEEDS) return nudgedFrame(clusterId, needs, CHANGED_ROWS);
  const nudged = STEADY_CHANGED_ROWS - GROWN_ROWS;
  const isGrowing = (at: number): boolean => at >= nudged && at < STEADY_CHANGED_ROWS;
  const grown = needs.map((need, at) => (isGrowing(at) ? (growToTwo(need) ?? need) : need));
  return nudgedFrame(clusterId, grown, nudged);
}

/** `churnWindow` in the order of the clusters. */
function steadyWindow(operators: readonly Operator[], at: number): readonly Operator[] {
  const { start, width } = churnWindow(operators.length, at);
  return Array.from(
    { length: width },
    (_, index) => operators[(start + index) % operators.length] as Operator,
  );
}

async function timedRound(operators: readonly Operator[]): Promise<number> {
  const startMs = performance.now();
  await inParallel(operators, ROLLUPS_AT_ONCE, sendNext);
  return performance.now() - startMs;
}

/** A session has one roll-up on its way at a time; sessions do not wait for each other. */
async function timedRounds(operators: readonly Operator[], count: number): Promise<number> {
  const startMs = performance.now();
  await inParallel(operators, operators.length, async (operator) => {
    for (let round = 0; round < count; round++) await sendNext(operator);
  });
  return performance.now() - startMs;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

async function sendNext(operator: Operator): Promise<void> {
  const frame = operator.frames[operator.next];
  operator.next = operator.next === 0 ? 1 : 0;
  await operator.session.rollup(frame);
}

async function inParallel<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) await work(items[at] as T);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}
