// Proves that a slow reader gets everything, also through a non-blocking pipe, and that one that is
// gone is told from a full disk.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { writeFully } from './process-port.ts';

/** More than any pipe holds. */
const LONG = 'machine\n'.repeat(400_000);

function fifo(t: TestContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'bigfleet-write-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'pipe');
  execFileSync('mkfifo', [file]);
  return file;
}

for (const [name, mode] of [
  ['blocking', 0],
  ['non-blocking', constants.O_NONBLOCK],
] as const) {
  test(`a ${name} pipe takes more than it can hold`, async (t) => {
    const file = fifo(t);
    // The reader opens its end in its own time; both ends are open here, so nothing is refused.
    const descriptor = openSync(file, constants.O_RDWR | mode);
    const reader = spawn('sh', ['-c', 'wc -c < "$1"', 'sh', file], { stdio: 'pipe' });
    const counted = text(reader.stdout);
    try {
      assert.equal(writeFully(descriptor, LONG), 'all');
    } finally {
      closeSync(descriptor);
    }
    assert.equal((await counted).trim(), String(LONG.length));
  });
}

test('a reader that is gone is an outcome', (t) => {
  const file = fifo(t);
  const both = openSync(file, constants.O_RDWR);
  const descriptor = openSync(file, constants.O_WRONLY);
  closeSync(both);
  assert.equal(writeFully(descriptor, 'x'), 'reader-gone');
  closeSync(descriptor);
});

test('a full disk is an error', () => {
  const descriptor = openSync('/dev/full', 'w');
  assert.throws(() => writeFully(descriptor, 'x'), { code: 'ENOSPC' });
  closeSync(descriptor);
});
