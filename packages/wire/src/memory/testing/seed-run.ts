// One random seed of the echo system, small and hostile: short times, narrow windows, faults all
// the time. Everything is drawn from the seed, so a failing seed is its own bug report.

import { createRandom, createVirtualRuntime, type Random } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import type { EventLogOptions } from '../event-log.ts';
import type { Counters } from '../ledger.ts';
import type { Settings } from '../settings.ts';
import type { EchoLedger } from './echo/ledger.ts';
import { EchoSystem } from './echo/system.ts';
import assert from 'node:assert/strict';

export interface SeedResult {
  readonly seed: string;
  readonly hash: string;
  readonly violations: readonly string[];
  readonly virtualMs: number;
  readonly eventCount: number;
  readonly lineCount: number;
  readonly echo: EchoLedger;
  readonly counters: Readonly<Counters>;
  /** The end of the log, for a report. */
  readonly tail: readonly string[];
}

export async function runSeed(seed: string, log: EventLogOptions = {}): Promise<SeedResult> {
  const random = createRandom(seed).stream('shape');
  const time = createVirtualRuntime({ seed, drain: drainMicrotasks });
  const virtualMs = 500 + random.below(2_500);
  const system = new EchoSystem({
    time,
    serverCount: 1 + random.below(2),
    clientCount: 1 + random.below(3),
    settings: randomSettings(random),
    largestThinkMs: 20 + random.below(400),
    largestFillerBytes: 1 + random.below(2_000),
    faultEveryMs: 50 + random.below(1_000),
    longestFaultMs: 50 + random.below(2_000),
    planMs: virtualMs,
    duplicates: random.below(4) === 0,
    log,
  });
  system.start();
  await time.runUntil(virtualMs);
  await system.finish();
  return {
    seed,
    hash: system.log.hash(),
    violations: system.ledger.violations,
    virtualMs,
    eventCount: time.firedEvents,
    lineCount: system.log.lineCount,
    echo: system.ledger,
    counters: system.network.counters,
    tail: system.log.tail(),
  };
}

function randomSettings(random: Random): Partial<Settings> {
  return {
    maxMessageBytes: 4_096,
    windowBytes: 16 + random.below(4_096),
    keepaliveIdleMs: 100 + random.below(1_000),
    keepaliveTimeoutMs: 50 + random.below(400),
    dialTimeoutMs: 100 + random.below(1_000),
    idleTimeoutMs: 1_000 + random.below(10_000),
    maxCallsPerConnection: 100,
  };
}

/** Runs one seed, and again where asked; throws a report that starts with the seed. */
export interface CheckSeedOptions {
  /** Run it twice and compare the logs. */
  readonly replay: boolean;
}

export async function checkSeed(seed: string, options: CheckSeedOptions): Promise<SeedResult> {
  const result = await runOnce(seed);
  if (options.replay) {
    const again = await runOnce(seed);
    assert.equal(again.hash, result.hash, `seed ${seed}: the second run differs from the first`);
  }
  return result;
}

async function runOnce(seed: string): Promise<SeedResult> {
  let result: SeedResult;
  try {
    result = await runSeed(seed);
  } catch (cause) {
    throw new Error(`seed ${seed}: ${String(cause)}`, { cause });
  }
  assert.equal(
    result.violations.length,
    0,
    `seed ${seed}:\n${result.violations.join('\n')}\n--- end of its log\n${result.tail.join('\n')}`,
  );
  return result;
}
