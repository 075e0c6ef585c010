// Runs one check and turns whatever it does into a result. A check that hangs is a finding too:
// each has a bound, far beyond what its own waits add up to. A cancelled run is no finding; it is
// thrown on.

import { describeThrown, runWithDeadline } from '@bigfleet/base';
import { type Capabilities, type CheckContext, CheckFailed, SkipCheck } from '../harness/check.ts';
import type { Outcome, TestResult } from '../run/result.ts';
import {
  ALL_CAPABILITIES,
  contextOf,
  type LaneContext,
  type LaneEnvironment,
  type RemoteTarget,
} from './environment.ts';
import { probeCapabilities } from '../harness/probe.ts';

/** B1104 and B1105 churn for the soak time; room for what surrounds it. */
const SOAKS_PER_CHECK = 4;

export interface RunnableCheck {
  /** As in the reports. */
  readonly name: string;
  readonly behaviourId?: string | undefined;
  run(context: CheckContext): Promise<void>;
}

export async function runCheck(
  environment: LaneEnvironment,
  lane: LaneContext,
  check: RunnableCheck,
): Promise<TestResult> {
  const { runtime, signal, scale, timeScale, checkBoundMs } = environment;
  const startMs = runtime.clock.monotonicMs();
  const ms = checkBoundMs * timeScale + SOAKS_PER_CHECK * scale.soakMs;
  const { name, behaviourId } = check;
  const notes: string[] = [];
  const outcome = await outcomeOf(signal, () =>
    runWithDeadline(runtime, { ms, parent: signal }, async (deadline) => {
      using opened = new DisposableStack();
      const one = { name, signal: deadline, notes, opened };
      await check.run(contextOf(environment, lane, one));
    }),
  );
  const durationMs = runtime.clock.monotonicMs() - startMs;
  return { name, behaviourId, outcome, durationMs, notes: [...notes] };
}

async function outcomeOf(signal: AbortSignal, run: () => Promise<void>): Promise<Outcome> {
  try {
    await run();
    return { kind: 'passed' };
  } catch (error) {
    signal.throwIfAborted();
    return failureOf(error);
  }
}

function failureOf(error: unknown): Outcome {
  if (error instanceof SkipCheck) {
    return { kind: 'skipped', skip: error.kind, reason: error.message };
  }
  const message = describeThrown(error);
  // A finding explains itself; anything else is an accident, and its stack says where.
  const isFinding = error instanceof CheckFailed || !(error instanceof Error);
  const detail = isFinding ? message : (error.stack ?? message);
  return { kind: 'failed', finding: firstLine(message), detail };
}

function firstLine(text: string): string {
  return text.split('\n').find((line) => line.trim() !== '') ?? 'failed without a message';
}

/**
 * Asks an endpoint for its optional capabilities before a lane judges it. What cannot be probed
 * counts as present: then the checks fail or skip for their own reason, and nothing is excused.
 */
export async function probe(
  environment: LaneEnvironment,
  remote: RemoteTarget,
): Promise<Capabilities> {
  let capabilities = ALL_CAPABILITIES;
  const lane = { ...remote, capabilities };
  // Its result is of no interest: a probe that fails leaves the capabilities as they are.
  await runCheck(environment, lane, {
    name: 'probe',
    run: async (context) => {
      capabilities = await probeCapabilities(context);
    },
  });
  return capabilities;
}
