// B701–B708 on an endpoint that can be told to misbehave (conformance §4.1): one that the user
// names, or the reference fault provider. The latter certifies the kit that a provider of this
// repository is built on; about a provider of anyone else it says nothing.

import { faultProviderLaunch, hasFaultProvider } from '../process/launch.ts';
import type { LaneReport } from '../run/result.ts';
import { FAULT_TIMEOUT_MS, type LaneEnvironment, type RemoteTarget } from './environment.ts';
import { type Opened, openProcess, openTarget } from './open.ts';
import { probe } from './run-check.ts';
import { checksOf, runChecks } from './run-checks.ts';

export const FAULT_SEED_COUNT = 64;

export interface FaultPlan {
  readonly faultTarget?: RemoteTarget | undefined;
  /** The provider under test is built on our kit: the reference fault provider may stand for it. */
  readonly isKitProvider: boolean;
}

export async function runFault(
  environment: LaneEnvironment,
  plan: FaultPlan,
): Promise<readonly LaneReport[]> {
  const opened = await open(environment, plan);
  if (!opened.ok) return [{ kind: 'broken', lane: 'fault', problem: opened.problem }];
  const { judged } = opened;
  try {
    const capabilities = await probe(environment, judged);
    const lane = { lane: 'fault', judged: judged.description } as const;
    const checks = checksOf(environment, 'fault');
    return [await runChecks(environment, { ...judged, capabilities }, { ...lane, checks })];
  } finally {
    await judged.close();
  }
}

async function open(environment: LaneEnvironment, plan: FaultPlan): Promise<Opened> {
  const { faultTarget, isKitProvider } = plan;
  if (faultTarget !== undefined) return openTarget(environment, faultTarget);
  if (!isKitProvider)
    return { ok: false, problem: 'needs --fault-target; with make FAULT_TARGET=' };
  if (!hasFaultProvider()) {
    return { ok: false, problem: 'needs --fault-target: no fault provider in this package' };
  }
  return openProcess(environment, {
    launch: faultProviderLaunch(FAULT_TIMEOUT_MS),
    seedCount: FAULT_SEED_COUNT,
    withState: false,
  });
}
