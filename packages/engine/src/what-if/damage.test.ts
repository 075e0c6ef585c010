// Proves what a what-if makes of damaged recordings: it counts what comes before the damage, says up to
// which cycle, goes on with the next trace, and never throws whatever the bytes are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { cores, machine, machines, need } from '../testing/build.ts';
import type { TraceEntry } from '../trace/entry.ts';
import { Chunks, randomRun } from '../trace/testing/random-run.ts';
import { TraceWriter } from '../trace/trace-writer.ts';
import type { WhatIfAnswer } from './answer.ts';
import { describeWhatIf } from './describe.ts';
import type { RecordedTrace } from './recording.ts';
import { RecordedWorld, tracesOf } from './testing/recorded-world.ts';
import { whatIf } from './what-if.ts';

const served = need({ wants: cores(2), unit: cores(1), priority: 1_000 });

function recorded(cycleCount: number): Uint8Array {
  return new RecordedWorld({ machines: machines(3, 'm', { state: 'Speculative' }) })
    .run(cycleCount, (self, cycle) => {
      if (cycle === 0) self.rollup('a', [served]);
    })
    .close();
}

async function answerOf(traces: readonly RecordedTrace[]): Promise<WhatIfAnswer> {
  const answer = await whatIf(traces, [{ kind: 'demand', cluster: '', factor: 1.5 }]);
  assert.ok(answer.ok, answer.ok ? '' : answer.error.text);
  return answer.value;
}

test('a trace that is cut in the middle counts up to the cut, and says so', async () => {
  const whole = recorded(60);
  const cut = whole.subarray(0, Math.floor(whole.length / 2));
  const answer = await answerOf(tracesOf(cut));
  const [trace] = answer.traces;
  assert.ok(trace !== undefined && !trace.isWhole);
  assert.ok(answer.cycleCount > 5 && answer.cycleCount < 60, `${answer.cycleCount} cycles`);
  const words = describeWhatIf(answer);
  const { cycleCount } = trace;
  const said = `1.trace: ${trace.end}; its ${cycleCount} cycles count, up to cycle ${cycleCount}`;
  assert.ok(words.includes(said), words);
  assert.match(trace.end, /^torn in the frame at byte \d+$/);
});

test('behind a damaged trace the next one goes on', async () => {
  const first = recorded(30);
  first[first.length - 200]! ^= 1;
  const world = new RecordedWorld({
    machines: machines(3, 'm', { state: 'Speculative' }),
    startMs: 9_000_000,
  });
  world.run(20, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [served]);
  });
  const { traces, cycleCount } = await answerOf(tracesOf(first, world.close()));
  assert.match(traces[0]?.end ?? '', /^corrupt in the frame at byte \d+/);
  assert.deepEqual(
    traces.map(({ isWhole }) => isWhole),
    [false, true],
  );
  assert.equal(cycleCount, (traces[0]?.cycleCount ?? 0) + 20);
});

test('a foreign file and an empty one are told by name', async () => {
  const answer = await whatIf(tracesOf(new Uint8Array(0), Uint8Array.from([1, 2, 3])), []);
  assert.ok(!answer.ok);
  assert.equal(answer.error.code, 'no_cycle');
  assert.match(answer.error.text, /1\.trace: .*; 2\.trace: not a trace/);
});

test('a trace whose entries do not fit together ends where they stop to', async () => {
  const chunks = new Chunks();
  const writer = new TraceWriter(chunks.sink);
  const cycle = (nowMs: number): TraceEntry[] => [
    { kind: 'cycle', options: { nowMs } },
    {
      kind: 'decided',
      decided: { hash: '0'.repeat(32) as never, actionCount: 0, actions: [] },
    },
  ];
  const entries: TraceEntry[] = [
    { kind: 'put', machine: machine({ id: 'm' }), nowMs: 0 },
    { kind: 'snapshot_end', machineCount: 1, rowCount: 0 },
    ...cycle(1_000),
    ...cycle(2_000),
    { kind: 'remove', id: 'nobody' },
    ...cycle(3_000),
  ];
  for (const entry of entries) writer.write(entry);
  writer.close();
  const { traces, cycleCount } = await answerOf(tracesOf(chunks.join()));
  assert.equal(cycleCount, 2);
  assert.equal(traces[0]?.end, 'does not fit together: an unknown machine "nobody"');
});

test('any recorded run, with any byte flipped, is answered or refused', async () => {
  let answeredCount = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const random = createRandom(`damage ${seed}`);
    const { trace } = randomRun(`damage ${seed}`, { cycleCount: 10 });
    if (seed % 3 !== 0) trace[random.below(trace.length)]! ^= 1 << random.below(8);
    const answer = await whatIf(tracesOf(trace), [{ kind: 'clusters', addedCount: 2 }]);
    if (answer.ok) answeredCount += 1;
    else assert.match(answer.error.code, /^(no_cycle|unknown_subject)$/, `seed ${seed}`);
  }
  assert.ok(answeredCount > 20, `only ${answeredCount} of 60 were answered`);
});
