// Proves that every decider emits the frozen actions, byte for byte, in whatever order machines
// and roll-ups reach it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goldenTraces } from './testing/golden.ts';
import { readGoldens } from './testing/record.ts';
import { printSeed, SCENARIO_SEED } from './seeds.ts';
import { deciders } from './testing/deciders.ts';

const goldens = readGoldens();

test('the committed goldens are the six scenarios and the three twins', () => {
  assert.deepEqual(
    [...goldens.keys()],
    [
      'bare-pods-twin.jsonl',
      'capacity-stockout.jsonl',
      'drain-failure-withdrawal.jsonl',
      'priority-inversion.jsonl',
      'provider-configure-failure.jsonl',
      'supply-exhaustion.jsonl',
      'training-job-topology.jsonl',
      'unmet-only-requests-twin.jsonl',
      'withdrawal.jsonl',
    ],
  );
});

for (const { name: decider, decide } of deciders) {
  for (const seed of [SCENARIO_SEED, 1n, 2n]) {
    const traces = goldenTraces({ decide, seed });
    for (const [name, golden] of goldens) {
      test(`${name} (${decider}, ${printSeed(seed)})`, () => {
        assert.equal(traces.get(name), golden, `${name} differs, ${printSeed(seed)}`);
      });
    }
  }
}

test('every line is an event with the next step', () => {
  for (const [name, text] of goldens) {
    const lines = text.split('\n');
    assert.equal(lines.pop(), '', `${name} ends with a newline`);
    lines.forEach((line, step) => {
      const event = JSON.parse(line) as { step: number; kind: string };
      assert.equal(event.step, step, name);
      const isEdge = step === 0 || step === lines.length - 1;
      assert.equal(/^scenario_(start|end)$/.test(event.kind), isEdge, `${name} ${step}`);
    });
  }
});
