// ListBrakes: what fails in a row, held off or not yet, in batches. The first has no rows: it says
// whether the rail is on, also when nothing fails.

import { type Clock, compareText } from '@bigfleet/base';
import type { BrakedNeed, BrakedType, FailureRun } from '@bigfleet/engine';
import type {
  BrakeBatchSchema,
  FailureRunSchema,
  NeedBrakeSchema,
  TypeBrakeSchema,
} from '@bigfleet/wire';
import type { ReadSources } from './read-sources.ts';
import type { Init, RowInit } from './wire-init.ts';

/** Each carries up to 4,096 characters of its provider: a batch stays below gRPC's usual 4 MiB. */
const ROWS_PER_BATCH = 250;
const NANOS_PER_MS = 1e6;

export async function* listBrakes({
  brake,
  runtime,
}: ReadSources): AsyncGenerator<Init<typeof BrakeBatchSchema>, void> {
  const enabled = brake !== undefined;
  yield { enabled };
  if (!enabled) return;
  const runInit = runInits(runtime.clock);
  // Copies: runs come and go between two turns.
  const needs = [...brake.needs()].toSorted(compareNeeds).map((run) => needInit(run, runInit));
  const types = [...brake.types()].toSorted(compareTypes).map((run) => typeInit(run, runInit));
  for (let at = 0; at < needs.length; at += ROWS_PER_BATCH) {
    yield { enabled, needs: needs.slice(at, at + ROWS_PER_BATCH) };
    await runtime.timers.turn();
  }
  for (let at = 0; at < types.length; at += ROWS_PER_BATCH) {
    yield { enabled, types: types.slice(at, at + ROWS_PER_BATCH) };
    await runtime.timers.turn();
  }
}

type RunInit = RowInit<typeof FailureRunSchema>;

/** The brake lives on the monotonic clock, readers on the wall's. */
function runInits(clock: Clock): (run: FailureRun<unknown>) => RunInit {
  const nowUnixNanos = clock.unixNanos();
  const nowMs = clock.monotonicMs();
  return ({ failureCount, pauseMs, untilMs, lastError }) => ({
    failures: failureCount,
    pauseSeconds: Math.ceil(pauseMs / 1_000),
    pauseEndsUnixNanos:
      pauseMs === 0 ? 0n : nowUnixNanos + BigInt(Math.round((untilMs - nowMs) * NANOS_PER_MS)),
    lastError,
  });
}

function needInit(
  run: FailureRun<BrakedNeed>,
  runInit: (run: FailureRun<BrakedNeed>) => RunInit,
): RowInit<typeof NeedBrakeSchema> {
  const { cluster, fingerprint } = run.subject;
  return { clusterId: cluster, profileFingerprint: fingerprint, run: runInit(run) };
}

function typeInit(
  run: FailureRun<BrakedType>,
  runInit: (run: FailureRun<BrakedType>) => RunInit,
): RowInit<typeof TypeBrakeSchema> {
  const { provider, instanceType } = run.subject;
  return { provider, instanceType, run: runInit(run) };
}

function compareNeeds({ subject: a }: FailureRun<BrakedNeed>, b: FailureRun<BrakedNeed>): number {
  const { cluster, fingerprint } = b.subject;
  return compareText(a.cluster, cluster) || compareText(a.fingerprint, fingerprint);
}

function compareTypes({ subject: a }: FailureRun<BrakedType>, b: FailureRun<BrakedType>): number {
  const { provider, instanceType } = b.subject;
  return compareText(a.provider, provider) || compareText(a.instanceType, instanceType);
}
