// One run: which lanes were asked for, each in its turn, and what came of it. A lane that nobody
// asked for says what would have made it run; one that was asked for and cannot run is broken,
// and a run with a broken lane is never certified.

import { BigFleetError, type Runtime } from '@bigfleet/base';
import type { TlsMaterial } from '@bigfleet/wire';
import { type BaselineCheck, baselineChecks } from '../baseline/index.ts';
import type { Profile } from '../catalogue/behaviour.ts';
import type { Check } from '../harness/check.ts';
import { Children } from '../process/children.ts';
import { FreePorts } from '../process/free-port.ts';
import type { Launch } from '../process/launch.ts';
import { Workspace } from '../process/workspace.ts';
import type { LaneName } from '../run/lane-names.ts';
import { type LaneReport, resultsOf, type RunObserver, type SuiteRun } from '../run/result.ts';
import { runDurable } from './durable.ts';
import type { LaneEnvironment, RemoteTarget } from './environment.ts';
import { openFault } from './fault.ts';
import { openProcess, openTarget } from './open.ts';
import { checksOf, judgeOpened } from './run-checks.ts';
import { runScale } from './scale.ts';

const CHECK_BOUND_MS = 300_000;

/** How the provider under test is booted, when the suite may do that. */
export interface SubjectLaunch {
  readonly launch: Launch;
  readonly tls?: TlsMaterial | undefined;
  /** Of this repository, hence built on our kit: the reference fault provider may stand for it. */
  readonly isKitProvider: boolean;
}

export interface SuiteOptions {
  /** Name of the provider, for reports. */
  readonly provider: string;
  /** A running endpoint; baseline and extension judge it rather than a booted process. */
  readonly target?: RemoteTarget | undefined;
  /** At least one of `target` and `subject` is there. */
  readonly subject?: SubjectLaunch | undefined;
  readonly faultTarget?: RemoteTarget | undefined;
  readonly profiles: readonly Profile[];
  readonly checks: readonly Check[];
  readonly only?: ReadonlySet<string> | undefined;
  readonly skipBaseline: boolean;
  /** Instead of the whole baseline; for the suite's own tests. */
  readonly baseline?: readonly BaselineCheck[];
  /** No other lane; for the suite's own tests. */
  readonly baselineOnly?: boolean;
  readonly seed: string;
  readonly timeScale: number;
  readonly seedCount: number;
  /** Ports of booted processes are looked for upwards from here; 0: anywhere. */
  readonly basePort: number;
  readonly scale: { readonly seedCount: number; readonly soakMs: number };
  /** After which a check counts as hanging; 5 min by default. */
  readonly checkBoundMs?: number;
}

export interface SuiteServices {
  readonly runtime: Runtime;
  readonly observer: RunObserver;
  /** Ends the run; every process that it booted is killed. */
  readonly signal: AbortSignal;
}

export interface FinishedSuite {
  readonly run: SuiteRun;
  /** Where the logs of booted processes are, when something went wrong. */
  readonly logFolder: string | undefined;
}

export async function runSuite(
  options: SuiteOptions,
  services: SuiteServices,
): Promise<FinishedSuite> {
  const { runtime } = services;
  const { provider, profiles, seed, only } = options;
  const startedUnixMs = Number(runtime.clock.unixNanos() / 1_000_000n);
  const startMs = runtime.clock.monotonicMs();
  const children = new Children(runtime);
  const workspace = new Workspace();
  let logFolder: string | undefined;
  try {
    const environment = laneEnvironment(options, services, { children, workspace });
    const lanes = await runLanes(options, environment);
    const durationMs = runtime.clock.monotonicMs() - startMs;
    const run = { provider, profiles, seed, startedUnixMs, durationMs, lanes };
    logFolder = lanes.every(isCleanLane) ? undefined : workspace.folder;
    return { run: only === undefined ? run : { ...run, only }, logFolder };
  } finally {
    await children.killAll();
    // Kept only when the result names them: an interrupted run leaves nothing behind.
    await workspace.close({ keepLogs: logFolder !== undefined });
  }
}

function laneEnvironment(
  options: SuiteOptions,
  services: SuiteServices,
  processes: Pick<LaneEnvironment, 'children' | 'workspace'>,
): LaneEnvironment {
  const { checks, only } = options;
  return {
    ...options,
    ...services,
    ...processes,
    ports: new FreePorts(options.basePort),
    baseline: options.baseline ?? baselineChecks,
    checkBoundMs: options.checkBoundMs ?? CHECK_BOUND_MS,
    checks: only === undefined ? checks : checks.filter(({ id }) => only.has(id)),
  };
}

async function runLanes(
  options: SuiteOptions,
  environment: LaneEnvironment,
): Promise<readonly LaneReport[]> {
  const reports: LaneReport[] = [];
  const asked = (lane: LaneName): boolean => {
    const missing = whyNotAsked(options, environment, lane);
    if (missing !== undefined) reports.push({ kind: 'not-asked', lane, missing });
    return missing === undefined;
  };
  const blackBox = (['baseline', 'extension'] as const).filter(asked);
  if (blackBox.length > 0) {
    const opened = await openSubject(options, environment);
    reports.push(...(await judgeOpened(environment, blackBox, opened)));
  }
  const { subject, target, faultTarget, profiles } = options;
  if (asked('fault')) {
    const opened = await openFault(environment, faultTarget, subject?.isKitProvider === true);
    reports.push(...(await judgeOpened(environment, ['fault'], opened)));
  }
  if (asked('durable')) reports.push(...(await runDurable(environment, subject)));
  if (asked('scale')) {
    const alsoWithState = profiles.includes('durable');
    reports.push(...(await runScale(environment, { boot: subject, target, alsoWithState })));
  }
  return reports;
}

function openSubject(
  { target, subject, seedCount }: SuiteOptions,
  environment: LaneEnvironment,
): ReturnType<typeof openTarget> {
  if (target !== undefined) return openTarget(environment, target);
  if (subject === undefined) {
    throw new BigFleetError('internal', 'a run needs a target or something to boot');
  }
  const { launch, tls } = subject;
  return openProcess(environment, { launch, tls, seedCount, withState: launch.prefersState });
}

/** Undefined when the lane is to run. */
function whyNotAsked(
  options: SuiteOptions,
  environment: LaneEnvironment,
  lane: LaneName,
): string | undefined {
  const { only, profiles, skipBaseline } = options;
  if (lane === 'baseline') {
    if (skipBaseline) return '--skip-baseline';
    return only === undefined ? undefined : 'its checks have no ids: not part of --only';
  }
  if (options.baselineOnly === true) return 'baseline only';
  if (only !== undefined && checksOf(environment, lane).length === 0)
    return 'not selected by --only';
  if (lane === 'extension') return undefined;
  return profiles.includes(lane) ? undefined : missingClaim(options, lane);
}

/** The shortest thing that would have made the lane run. */
function missingClaim({ subject }: SuiteOptions, lane: 'fault' | 'durable' | 'scale'): string {
  if (lane === 'fault' && subject?.isKitProvider !== true) {
    return 'needs --fault-target; with make FAULT_TARGET=';
  }
  if (lane === 'durable' && subject === undefined) {
    return 'needs --start-cmd; with make START_CMD=';
  }
  return `needs --profile core,${lane}; with make PROFILE=core,${lane}`;
}

function isCleanLane(report: LaneReport): boolean {
  if (report.kind === 'broken') return false;
  if (report.kind === 'ran' && report.problem !== undefined) return false;
  return resultsOf(report).every(({ outcome }) => outcome.kind !== 'failed');
}
