// The echo system, paced so that a person can watch: each step runs one virtual second in a
// tenth of a real one. The wall clock decides only when a step runs, never what happens in it,
// and a run stops between two steps: seed and virtual length alone decide the hash.

import { createVirtualRuntime, type Runtime, sleep } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { EchoSystem } from '@bigfleet/wire/memory';
import type { View } from './view.ts';

export interface EchoDemoOptions {
  readonly runtime: Runtime;
  readonly view: View;
  readonly seed: string;
  readonly wallMs: number;
  /** Stops after the current step. */
  readonly signal: AbortSignal;
}

export interface EchoDemoSummary {
  readonly seed: string;
  readonly virtualMs: number;
  readonly calls: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly messages: number;
  readonly faults: number;
  readonly violations: readonly string[];
  readonly logLines: number;
  readonly logHash: string;
}

const STEP_WALL_MS = 100;
const STEP_VIRTUAL_MS = 1_000;
/** The longest run; the plan of a shorter one is a part of it, so length never changes a beginning. */
const PLAN_MS = 6_000_000;

export async function runEchoDemo(options: EchoDemoOptions): Promise<EchoDemoSummary> {
  const { runtime, view, seed, wallMs, signal } = options;
  const time = createVirtualRuntime({ seed, drain: drainMicrotasks });
  let faultCount = 0;
  const system = new EchoSystem({
    time,
    serverCount: 3,
    clientCount: 4,
    settings: {},
    largestThinkMs: 2_000,
    largestFillerBytes: 20_000,
    faultEveryMs: 6_000,
    longestFaultMs: 20_000,
    planMs: PLAN_MS,
    duplicates: false,
    log: {
      sink: (line) => {
        const [, micros, fault] = /^(\d+) ! (.*)$/.exec(line) ?? [];
        if (fault === undefined) return;
        faultCount += 1;
        view.fault(Number(micros) / 1_000, fault);
      },
    },
  });
  const stepCount = Math.max(1, Math.round(wallMs / STEP_WALL_MS));
  const startMs = runtime.clock.monotonicMs();
  system.start();
  for (let step = 1; step <= stepCount && !signal.aborted; step += 1) {
    await time.runUntil(step * STEP_VIRTUAL_MS);
    view.status({
      virtualMs: time.nowMs,
      echo: system.ledger,
      openCallCount: system.network.open.clientCalls,
      logHash: system.log.hash(),
    });
    await untilWall(runtime, startMs + step * STEP_WALL_MS, signal);
  }
  const virtualMs = time.nowMs;
  view.line('ending the faults, finishing every call, asking every server once more');
  await system.finish();
  const { ledger, log } = system;
  return {
    seed,
    virtualMs,
    calls: ledger.startedCount,
    outcomes: Object.fromEntries([...ledger.outcomes].sort(([a], [b]) => (a < b ? -1 : 1))),
    messages: ledger.messageCount,
    faults: faultCount,
    violations: ledger.violations,
    logLines: log.lineCount,
    logHash: log.hash(),
  };
}

async function untilWall(runtime: Runtime, atMs: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(runtime, atMs - runtime.clock.monotonicMs(), signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
