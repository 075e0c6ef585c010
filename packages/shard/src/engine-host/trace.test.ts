// Proves that what leaves the engine with its answers is a trace that replays to every decided
// action, across rotations, inline and in the worker; and that a trace costs no decision.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { replay } from '@bigfleet/engine';
import type { CycleAnswer } from './answer.ts';
import type { DeciderOptions } from './decider.ts';
import type { EngineHost } from './engine-host.ts';
import { createInlineHost } from './inline-host.ts';
import { RandomInputs } from './testing/random-inputs.ts';
import { TraceParts } from './trace-parts.ts';
import { createWorkerHost } from './worker-host.ts';

const CYCLES = 30;
const INPUTS_PER_CYCLE = 20;
const ROTATE_EVERY = 7;

function inlineHost(options: DeciderOptions): EngineHost {
  const { runtime } = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });
  const timers = { ...runtime.timers, turn: () => Promise.resolve() };
  return createInlineHost({ ...runtime, timers }, options);
}

async function run(host: EngineHost, seed: bigint): Promise<CycleAnswer[]> {
  const inputs = new RandomInputs(seed);
  const answers: CycleAnswer[] = [];
  for (let cycle = 1; cycle <= CYCLES; cycle++) {
    for (let input = 0; input < INPUTS_PER_CYCLE; input++) await inputs.apply([host], cycle * 100);
    if (cycle % ROTATE_EVERY === 0) host.rotateTrace();
    answers.push(await host.cycle({ nowMs: cycle * 100 }));
  }
  return answers;
}

/** The parts of each trace, joined. */
function tracesOf(answers: readonly CycleAnswer[]): Uint8Array[] {
  const traces: Uint8Array[][] = [];
  for (const { isStart, bytes } of answers.flatMap(({ trace }) => trace)) {
    if (isStart) traces.push([]);
    traces.at(-1)?.push(bytes);
  }
  return traces.map((parts) => Buffer.concat(parts));
}

for (const kind of ['inline', 'worker'] as const) {
  test(`every action hash of the run is replayed (${kind})`, async (context) => {
    const host =
      kind === 'inline' ? inlineHost({ hasTrace: true }) : createWorkerHost({ hasTrace: true });
    context.after(() => host.close());
    const answers = await run(host, 5n);
    const reports = tracesOf(answers).map((trace) => replay(trace));
    assert.equal(reports.length, 1 + Math.floor(CYCLES / ROTATE_EVERY));
    assert.ok(reports.every(({ outcome }) => outcome === 'identical'));
    assert.ok(reports.every(({ cycleCount, verifiedCount }) => cycleCount === verifiedCount));
    assert.deepEqual(
      reports.map(({ end }) => end?.kind),
      [...reports.slice(1).map(() => 'closed'), 'open'],
    );
    assert.deepEqual(
      reports.flatMap(({ hashes }) => hashes),
      answers.map(({ actionHash }) => actionHash),
    );
    assert.ok(answers.some(({ actions }) => actions.count > 0));
  });
}

test('a trace changes no decision, and without one no bytes leave', async () => {
  const [traced, plain] = await Promise.all([
    run(inlineHost({ hasTrace: true }), 6n),
    run(inlineHost({}), 6n),
  ]);
  assert.deepEqual(
    plain.map(({ actionHash }) => actionHash),
    traced.map(({ actionHash }) => actionHash),
  );
  assert.ok(plain.slice(0, ROTATE_EVERY - 1).every(({ trace }) => trace.length === 0));
});

test('what waits for an answer is bounded', () => {
  const parts = new TraceParts(10);
  const sink = parts.begin();
  sink(new Uint8Array(10));
  assert.throws(() => sink(new Uint8Array(1)), /wait for an answer/);
  assert.deepEqual(
    parts.take().map(({ isStart, bytes }) => [isStart, bytes.length]),
    [[true, 10]],
  );
  sink(new Uint8Array(1));
  assert.deepEqual(
    parts.take().map(({ isStart, bytes }) => [isStart, bytes.length]),
    [[false, 1]],
  );
});
