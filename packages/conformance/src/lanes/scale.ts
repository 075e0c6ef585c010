// B1101–B1109 on a large fleet. A process is booted with S slots; it runs in memory, and a second
// time with state where the provider claims durability, because that is where a store that writes
// its whole file collapses. A target that nobody may boot must hold S machines already.

import { dialEndpoint } from '../harness/dial.ts';
import type { LaneReport } from '../run/result.ts';
import type { LaneEnvironment } from './environment.ts';
import type { Judged, RemoteTarget } from './judged.ts';
import { type BootPlan, type Opened, openProcess, openTarget } from './open.ts';
import { probe } from './probe.ts';
import { checksOf, runChecks } from './run-checks.ts';

/** A full List of a large fleet takes its time over a slow link. */
const COUNT_WITHIN_MS = 60_000;

export interface ScalePlan {
  readonly boot?: Omit<BootPlan, 'seedCount' | 'withState'> | undefined;
  readonly target?: RemoteTarget | undefined;
  readonly alsoWithState: boolean;
}

export async function runScale(
  environment: LaneEnvironment,
  plan: ScalePlan,
): Promise<readonly LaneReport[]> {
  const reports: LaneReport[] = [];
  for (const open of openings(environment, plan)) {
    reports.push(await runOn(environment, await open()));
  }
  return reports;
}

function openings(
  environment: LaneEnvironment,
  { boot, target, alsoWithState }: ScalePlan,
): readonly (() => Promise<Opened>)[] {
  const { seedCount } = environment.scale;
  if (boot !== undefined) {
    // A command that always gets a state has nothing to show in memory.
    const stores = boot.launch.alwaysState ? [true] : alsoWithState ? [false, true] : [false];
    return stores.map(
      (withState) => () => openProcess(environment, { ...boot, seedCount, withState }),
    );
  }
  if (target !== undefined) return [() => openLarge(environment, target)];
  return [async () => ({ ok: false, problem: 'needs --target, --provider or --start-cmd' })];
}

async function runOn(environment: LaneEnvironment, opened: Opened): Promise<LaneReport> {
  if (!opened.ok) return { kind: 'broken', lane: 'scale', problem: opened.problem };
  const { judged } = opened;
  try {
    const capabilities = await probe(environment, judged);
    return await runChecks(
      environment,
      { ...judged, capabilities },
      { lane: 'scale', judged: judged.description, checks: checksOf(environment, 'scale') },
    );
  } finally {
    await judged.close();
  }
}

async function openLarge(environment: LaneEnvironment, remote: RemoteTarget): Promise<Opened> {
  const opened = await openTarget(environment, remote);
  if (!opened.ok) return opened;
  const wanted = environment.scale.seedCount;
  const count = await countMachines(environment, opened.judged);
  if (count >= wanted) return opened;
  const problem =
    `${remote.target} holds ${count} machines, the scale lane needs ${wanted}: ` +
    'seed more, lower --scale-seed, or give --start-cmd';
  return { ok: false, problem };
}

async function countMachines(environment: LaneEnvironment, judged: Judged): Promise<number> {
  const { runtime, signal, timeScale } = environment;
  const { target, tls } = judged;
  const callDeadlineMs = COUNT_WITHIN_MS;
  const endpoint = dialEndpoint({ runtime, target, tls, signal, timeScale, callDeadlineMs });
  try {
    const answer = await endpoint.list();
    return answer.ok ? answer.value.machines.length : 0;
  } finally {
    endpoint.close();
  }
}
