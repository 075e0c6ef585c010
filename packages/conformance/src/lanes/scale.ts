// B1101–B1109 on a large fleet. A process is booted with S slots and judged in memory. Where the
// provider claims durability it is judged a second time with state, on a line of its own, because
// that is where a store that writes its whole file collapses. A target that nobody may boot must
// hold S machines already.

import type { LaneReport, Outcome } from '../run/result.ts';
import type { LaneEnvironment, RemoteTarget } from './environment.ts';
import { type BootPlan, type Opened, openProcess, openTarget } from './open.ts';
import { listOnce } from './reachable.ts';
import { judgeOpened } from './run-checks.ts';

/** A full List of a large fleet takes its time over a slow link. */
const COUNT_WITHIN_MS = 60_000;

export interface ScalePlan {
  readonly boot?: Omit<BootPlan, 'seedCount' | 'withState'> | undefined;
  readonly target?: RemoteTarget | undefined;
  readonly alsoWithState: boolean;
}

export async function runScale(
  environment: LaneEnvironment,
  { boot, target, alsoWithState }: ScalePlan,
): Promise<readonly LaneReport[]> {
  if (boot !== undefined) return runBooted(environment, boot, alsoWithState);
  const opened: Opened =
    target === undefined
      ? { ok: false, problem: 'needs --target, --provider or --start-cmd' }
      : await openLarge(environment, target);
  return judgeOpened(environment, ['scale'], opened);
}

async function runBooted(
  environment: LaneEnvironment,
  boot: NonNullable<ScalePlan['boot']>,
  alsoWithState: boolean,
): Promise<readonly LaneReport[]> {
  const { seedCount } = environment.scale;
  const open = (withState: boolean): Promise<Opened> =>
    openProcess(environment, { ...boot, seedCount, withState });
  const inMemory = await open(false);
  // Whoever names `{state}` may have no other store: it is judged on that one, and it is said.
  const needsState = !inMemory.ok && boot.launch.prefersState;
  const first: readonly LaneReport[] = needsState
    ? [{ kind: 'not-asked', lane: 'scale', missing: `in memory: ${inMemory.problem}` }]
    : await judgeOpened(environment, ['scale'], inMemory);
  if (!needsState && !alsoWithState) return first;
  const second = await judgeOpened(environment, ['scale'], await open(true));
  return [...first, ...second.map(toldApart)];
}

/** The same checks a second time: each result says that it is the one with state. */
function toldApart(report: LaneReport): LaneReport {
  if (report.kind !== 'ran') return report;
  const where = (text: string): string => `with state: ${text}`;
  const results = report.results.map((result) => ({
    ...result,
    name: `${result.name}_WithState`,
    notes: result.notes.map(where),
    outcome: locatedOutcome(result.outcome, where),
  }));
  return { ...report, results };
}

function locatedOutcome(outcome: Outcome, where: (text: string) => string): Outcome {
  switch (outcome.kind) {
    case 'passed':
      return outcome;
    case 'failed':
      return { ...outcome, finding: where(outcome.finding), detail: where(outcome.detail) };
    case 'skipped':
      return { ...outcome, reason: where(outcome.reason) };
  }
}

async function openLarge(environment: LaneEnvironment, remote: RemoteTarget): Promise<Opened> {
  const opened = await openTarget(environment, remote);
  if (!opened.ok) return opened;
  const wanted = environment.scale.seedCount;
  const answer = await listOnce(environment, remote, COUNT_WITHIN_MS);
  const count = answer.ok ? answer.value.machines.length : 0;
  if (count >= wanted) return opened;
  const problem =
    `${remote.target} holds ${count} machines, the scale lane needs ${wanted}: ` +
    'seed more, lower --scale-seed, or give --start-cmd';
  return { ok: false, problem };
}
