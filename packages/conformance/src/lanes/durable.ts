// B1001–B1007: state is written, the process gets SIGKILL and boots again on the same state and
// another port. One kill of the provider under test serves all but B1006, which kills the
// reference fault provider in the middle of a transition (behaviours/durability/stage.ts). When
// the provider cannot be brought to that point or does not come back, all seven fail.

import { describeThrown } from '@bigfleet/base';
import { crossRestart } from '../behaviours/durability/stage.ts';
import type { DurableStage } from '../harness/check.ts';
import { faultProviderLaunch, hasFaultProvider } from '../process/launch.ts';
import { bootDurable, DURABLE_CALL_DEADLINE_MS, type DurableProcess } from '../process/owned.ts';
import type { LaneReport, Outcome, TestResult } from '../run/result.ts';
import { ALL_CAPABILITIES, type LaneContext, type LaneEnvironment } from './environment.ts';
import { FAULT_SEED_COUNT } from './fault.ts';
import type { BootPlan } from './open.ts';
import { runCheck } from './run-check.ts';
import { checksOf, runChecks } from './run-checks.ts';

const DURABLE_SEED_COUNT = 64;
/** Long enough that B1006 certainly kills a running transition, not a timed-out one. */
const FAULT_TIMEOUT_MS = 30_000;

type Subject = Pick<BootPlan, 'launch' | 'tls'>;

export async function runDurable(
  environment: LaneEnvironment,
  subject: Subject | undefined,
): Promise<readonly LaneReport[]> {
  const broken = (problem: string): LaneReport[] => [{ kind: 'broken', lane: 'durable', problem }];
  if (subject === undefined) return broken('needs --start-cmd or --provider; with make START_CMD=');
  const processes: DurableProcess[] = [];
  const boot = async (launched: Subject, seedCount: number): Promise<DurableProcess> => {
    const { launch, tls } = launched;
    const process = await bootDurable(environment, { launch, tls, seedCount });
    processes.push(process);
    return process;
  };
  try {
    const target = await boot(subject, DURABLE_SEED_COUNT);
    const fault = await orProblem(environment, () =>
      boot({ launch: faultProviderLaunch(FAULT_TIMEOUT_MS) }, FAULT_SEED_COUNT),
    );
    return [await judgeRestart(environment, subject, { target, fault })];
  } catch (error) {
    environment.signal.throwIfAborted();
    return broken(describeThrown(error));
  } finally {
    for (const process of processes) await process.stop();
  }
}

interface Processes {
  readonly target: DurableProcess;
  /** Or why B1006 has nothing to kill. */
  readonly fault: DurableProcess | string;
}

/** B1006 alone needs the fault provider: the others are judged without it. */
async function orProblem(
  environment: LaneEnvironment,
  boot: () => Promise<DurableProcess>,
): Promise<DurableProcess | string> {
  if (!hasFaultProvider()) return 'B1006: no fault provider in this package';
  try {
    return await boot();
  } catch (error) {
    environment.signal.throwIfAborted();
    return describeThrown(error);
  }
}

async function judgeRestart(
  environment: LaneEnvironment,
  { launch, tls }: Subject,
  { target, fault }: Processes,
): Promise<LaneReport> {
  const hasFault = typeof fault !== 'string';
  const on = hasFault ? '; B1006 on the reference fault provider' : '';
  const judged = `${launch.name} booted with ${DURABLE_SEED_COUNT} slots, with state${on}`;
  const common = { tls, capabilities: ALL_CAPABILITIES, callDeadlineMs: DURABLE_CALL_DEADLINE_MS };
  const before: LaneContext = { ...common, target: target.target };
  const staged = await crossOver(environment, before, target);
  const plan = { lane: 'durable', judged, checks: checksOf(environment, 'durable') } as const;
  if (staged.stage === undefined) return allEnd(environment, plan, staged.outcome);
  const after: LaneContext = {
    ...common,
    target: target.target,
    durable: staged.stage,
    ...(hasFault ? { process: fault } : {}),
  };
  const report = await runChecks(environment, after, plan);
  return hasFault || report.kind !== 'ran' ? report : { ...report, problem: fault };
}

interface Staged {
  readonly stage: DurableStage | undefined;
  readonly outcome: Outcome;
}

async function crossOver(
  environment: LaneEnvironment,
  lane: LaneContext,
  target: DurableProcess,
): Promise<Staged> {
  let stage: DurableStage | undefined;
  const { outcome } = await runCheck(environment, lane, {
    name: 'restart',
    run: async (context) => {
      stage = await crossRestart(context, () => target.killAndReboot());
    },
  });
  return { stage, outcome };
}

/** What kept the provider from crossing the restart is the finding of every behaviour about it. */
function allEnd(
  environment: LaneEnvironment,
  plan: Parameters<typeof runChecks>[2],
  outcome: Outcome,
): LaneReport {
  const { lane, judged, checks } = plan;
  environment.observer.laneStarted({ lane, judged, checkCount: checks.length });
  const results = checks.map(
    ({ name, behaviourId }): TestResult => ({
      name,
      behaviourId,
      outcome,
      durationMs: 0,
      notes: [],
    }),
  );
  for (const result of results) environment.observer.checkEnded(lane, result);
  return { kind: 'ran', lane, judged, results };
}
