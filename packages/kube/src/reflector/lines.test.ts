// Proves that lines come out whole whatever the chunks are, and that no bytes make the splitter do
// anything else than yield text or say that a line has no end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { linesOf } from './lines.ts';

const seed = Number(process.env['BIGFLEET_SEED'] ?? 1);

async function* chunksOf(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield await Promise.resolve(chunk);
}

async function collected(chunks: Iterable<Uint8Array>): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(chunksOf(chunks))) lines.push(line);
  return lines;
}

/** Cut at the places that the numbers give. */
function cut(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = cuts.map((at) => at % (bytes.length + 1)).toSorted((a, b) => a - b);
  return [0, ...places].map((from, at) => bytes.subarray(from, places[at] ?? bytes.length));
}

test(`any text is split at its newlines alone, wherever it is cut (seed ${seed})`, async () => {
  const text = fc.string({ unit: fc.constantFrom('a', '{', '"', '\n', '\r', 'é', '😀', '\0') });
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.nat(), { maxLength: 8 }), async (body, cuts) => {
      // The rest after the last newline is half an event: the watch resumes before it.
      const expected = body.split('\n').slice(0, -1).filter(Boolean);
      assert.deepEqual(await collected(cut(Buffer.from(body), cuts)), expected);
    }),
    { seed, numRuns: 2_000 },
  );
});

test(`any bytes come out the same however they are cut (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(fc.nat(), { maxLength: 8 }),
      async (bytes, cuts) => {
        assert.deepEqual(await collected(cut(bytes, cuts)), await collected([bytes]));
      },
    ),
    { seed, numRuns: 2_000 },
  );
});

test('an event of two megabytes is one line; a line without an end is refused', async () => {
  const big = Buffer.from(`${'x'.repeat(2 << 20)}\n`);
  const pieces = Array.from({ length: Math.ceil(big.length / 1000) }, (_, at) =>
    big.subarray(at * 1000, at * 1000 + 1000),
  );
  assert.deepEqual(
    (await collected(pieces)).map(({ length }) => length),
    [2 << 20],
  );
  const piece = Buffer.alloc(1 << 20, 'x');
  let given = 0;
  const endless = {
    *[Symbol.iterator]() {
      for (;;) {
        given++;
        yield piece;
      }
    },
  };
  await assert.rejects(collected(endless), { code: 'kube_answer_malformed' });
  assert.ok(given < 100, `${given} MiB were taken in`);
});
