// Proves that a mapped stream keeps order and back-pressure, and that every way to end it
// reaches the source exactly once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapStream } from './map-stream.ts';

function numbers(count: number) {
  const seen = { pulled: 0, returned: 0 };
  async function* generate(): AsyncGenerator<number> {
    try {
      for (let at = 0; at < count; at++) {
        seen.pulled += 1;
        yield at;
      }
    } finally {
      seen.returned += 1;
    }
  }
  return { seen, source: generate() };
}

test('maps in order and pulls nothing ahead', async () => {
  const { seen, source } = numbers(3);
  const mapped = mapStream(source, (value) => value * 10);
  assert.deepEqual(await mapped.next(), { done: false, value: 0 });
  assert.equal(seen.pulled, 1);
  const rest: number[] = [];
  for await (const value of mapped) rest.push(value);
  assert.deepEqual(rest, [10, 20]);
  assert.deepEqual(await mapped.next(), { done: true, value: undefined });
});

test('returning early ends the source', async () => {
  const { seen, source } = numbers(9);
  for await (const value of mapStream(source, String)) if (value === '1') break;
  assert.deepEqual(seen, { pulled: 2, returned: 1 });
});

test('a failing map ends the source and throws what mapError makes of it', async () => {
  const { seen, source } = numbers(9);
  const mapped = mapStream(
    source,
    () => {
      throw new Error('inner');
    },
    (error) => new Error('outer', { cause: error }),
  );
  await assert.rejects(mapped.next(), /outer/);
  assert.equal(seen.returned, 1);
  assert.equal((await mapped.next()).done, true);
});

test('a failing source passes through mapError too', async () => {
  async function* failing(): AsyncGenerator<number> {
    yield 1;
    throw new Error('source');
  }
  const mapped = mapStream(failing(), String, () => new Error('mapped'));
  assert.equal((await mapped.next()).value, '1');
  await assert.rejects(mapped.next(), /mapped/);
});
