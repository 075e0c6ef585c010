// Proves that the guides for a running fleet do what they say: the fleet of the operator guide is started
// as printed, and every command of every other guide runs against it, in the printed order. Long because
// the fleet must have reported its machines first.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasMachines, Reader } from './fleet-reader.ts';
import { blocksOf, FLEET_PAGES } from './pages.ts';

/** Up to the first look at the machines, the operator guide builds the fleet. */
async function startFleet(reader: Reader): Promise<void> {
  for (const block of blocksOf('docs/operator-guide.md')) {
    if (block.kind === 'serve') await reader.serve(block.text);
    else if (block.kind === 'run') {
      if (block.text.includes('get machines')) break;
      await reader.run(block.text);
    }
  }
  await hasMachines(reader);
}

test('every command of the guides runs against the fleet of the operator guide', async (t) => {
  await using reader = await Reader.open();
  await startFleet(reader);
  for (const page of FLEET_PAGES) {
    for (const block of blocksOf(page)) {
      if (block.kind === 'serve' || block.kind === 'clone') assert.fail(`${page}: ${block.kind}`);
      if (block.kind !== 'run') continue;
      await t.test(`${page}, line ${block.line}`, async () => {
        const output = await reader.run(block.text);
        assert.notEqual(output.trim(), '', `it prints nothing: ${block.text}`);
      });
    }
  }
  await t.test('and leaves the fleet as it was: nothing paused, nothing wrong', async () => {
    assert.doesNotMatch(await reader.run('bigfleetctl rails'), /paused by/);
    assert.match(await reader.run('bigfleetctl doctor || [ $? -eq 1 ]'), /0 errors/);
  });
});
