// What the engine decides for generated fleets, as digests: computed once in Node and once in the
// browser, and compared. Two cycles per fleet, so that the second one is incremental. The first
// must also equal the oracle, in whichever place it runs.

import { createRandom, type Random } from '@bigfleet/base';
import {
  type CycleInput,
  type CycleOutput,
  type Engine,
  loadEngine,
  oracleCycle,
  readCycle,
} from '@bigfleet/engine';
import { canonicalText } from './canonical.ts';
import { isDeepEqual } from './deep-equal.ts';

export type RandomFleet = (random: Random) => CycleInput;

/** SHA-256 in hex. */
export interface FleetDigest {
  readonly seed: string;
  readonly equalsOracle: boolean;
  readonly actionCount: number;
  readonly recordBytes: number;
  /** Of the actions in their order. */
  readonly actions: string;
  /** Of all that `readCycle` returns. */
  readonly outputs: string;
  /** Of the bytes of the decision records. */
  readonly records: string;
}

const CYCLES = 2;
const CYCLE_MS = 1_000;

export async function fleetDigests(
  randomFleet: RandomFleet,
  count: number,
): Promise<FleetDigest[]> {
  const digests: FleetDigest[] = [];
  for (let at = 1; at <= count; at++) digests.push(await digestOf(randomFleet, `browser-${at}`));
  return digests;
}

async function digestOf(randomFleet: RandomFleet, seed: string): Promise<FleetDigest> {
  const input = randomFleet(createRandom(seed));
  const engine = loadEngine(input);
  const run: CycleTexts[] = [];
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const nowMs = input.nowMs + cycle * CYCLE_MS;
    engine.cycle({ nowMs, quotaRemaining: input.quotaRemaining });
    // At once: the next cycle reuses what this one returned.
    run.push(textsOf(engine, cycle === 0 ? oracleCycle(input) : undefined));
  }
  return {
    seed,
    equalsOracle: run.every(({ equalsOracle }) => equalsOracle),
    actionCount: run.reduce((sum, { actionCount }) => sum + actionCount, 0),
    recordBytes: run.reduce((sum, { record }) => sum + record.length, 0),
    actions: await sha256(run.map(({ actions }) => actions)),
    outputs: await sha256(run.map(({ outputs }) => outputs)),
    records: await sha256(run.map(({ record }) => hex(record))),
  };
}

interface CycleTexts {
  readonly equalsOracle: boolean;
  readonly actionCount: number;
  readonly actions: string;
  readonly outputs: string;
  readonly record: Uint8Array;
}

function textsOf(engine: Engine, expected: CycleOutput | undefined): CycleTexts {
  const output = readCycle(engine);
  return {
    equalsOracle: expected === undefined || isDeepEqual(output, expected),
    actionCount: output.actions.length,
    actions: canonicalText(output.actions),
    outputs: canonicalText(output),
    record: engine.record.slice(),
  };
}

async function sha256(parts: readonly string[]): Promise<string> {
  const bytes = new TextEncoder().encode(parts.join('\n'));
  return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
