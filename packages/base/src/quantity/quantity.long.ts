// Proves on a million generated texts that the quantity parser never crashes, never touches a
// prototype and agrees with the oracle; and prints what an ingest parse costs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../runtime/random.ts';
import { realRuntime } from '../runtime/real.ts';
import { toQuanta } from './quanta.ts';
import { checkRandomQuantity } from './testing/check.ts';

const COUNT = Number(process.env['BIGFLEET_QUANTITY_COUNT'] ?? 1_000_000);
const TIME_BOX_MS = Number(process.env['BIGFLEET_LONG_MS'] ?? Number.POSITIVE_INFINITY);

const { clock, entropy } = realRuntime();
const seed = process.env['BIGFLEET_SEED'] ?? entropy.bytes(8).join('');

test(`${COUNT} generated texts agree with the oracle (seed ${seed})`, (context) => {
  const random = createRandom(seed);
  const startMs = clock.monotonicMs();
  const prototypesBefore = prototypeKeys();
  let done = 0;
  let parsedCount = 0;
  for (; done < COUNT; done++) {
    if (done % 1000 === 0 && clock.monotonicMs() - startMs > TIME_BOX_MS) break;
    if (checkRandomQuantity(random)) parsedCount++;
  }
  assert.ok(done > 0, 'the time box ended before the first input');
  assert.deepEqual(prototypeKeys(), prototypesBefore);
  context.diagnostic(`${done} of ${COUNT} inputs, ${parsedCount} of them well-formed`);
});

test('the cost of an ingest parse', (context) => {
  const texts = ['250m', '4', '16Gi', '512Mi', '1.5', '100000Ki'];
  const callCount = 3_000_000;
  const startMs = clock.monotonicMs();
  let sum = 0;
  for (let i = 0; i < callCount; i++) {
    const result = toQuanta(texts[i % texts.length] ?? '', 'memory', 'demand');
    if (result.ok) sum += result.value;
  }
  const nanosPerCall = ((clock.monotonicMs() - startMs) * 1e6) / callCount;
  assert.ok(sum > 0);
  context.diagnostic(`${nanosPerCall.toFixed(0)} ns per toQuanta of a common spelling`);
});

function prototypeKeys(): readonly PropertyKey[] {
  return [Object.prototype, Array.prototype, String.prototype].flatMap((prototype) =>
    Reflect.ownKeys(prototype),
  );
}
