// Proves that the log's hash is that of its bytes, however it is read, and that its memory is
// bounded.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { EventLog } from './event-log.ts';

test('the hash is SHA-256 over the lines, each ended by a line feed', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { maxLength: 300 }), (lines) => {
      const log = new EventLog();
      for (const [index, line] of lines.entries()) {
        log.append(line);
        if (index % 37 === 0) log.hash();
      }
      const expected = createHash('sha256').update(lines.map((line) => `${line}\n`).join(''));
      assert.equal(log.hash(), expected.digest('hex'));
      assert.equal(log.lineCount, lines.length);
    }),
  );
});

test('keeps only the newest lines, and passes every line to the sink', () => {
  const sunk: string[] = [];
  const log = new EventLog({ tailLines: 3, sink: (line) => sunk.push(line) });
  for (let i = 0; i < 1_000; i += 1) log.append(String(i));
  assert.deepEqual(log.tail(), ['997', '998', '999']);
  assert.equal(sunk.length, 1_000);
});
