// Proves that the operator guide does what it says: its blocks run in the printed order and end in a
// fleet whose provider is dialled, and its restore brings the state back. Long because the page waits
// for two reports of the shard. Blocks for a cluster are run by test/kube/charts-server.e2e.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasMachines, Reader } from './fleet-reader.ts';
import { blocksOf } from './pages.ts';

const blocks = blocksOf('docs/operator-guide.md').filter(({ kind }) => kind !== 'kube');

test('the page starts a fleet, steers it, saves it and brings it back', async (t) => {
  await using reader = await Reader.open();
  const outputs: string[] = [];
  for (const block of blocks) {
    if (block.kind === 'serve') await reader.serve(block.text);
    else if (block.kind === 'run') {
      if (block.text.includes('snapshot restore')) await reader.stop('bigfleet coordinator');
      if (block.text.includes('get machines')) await hasMachines(reader);
      outputs.push(await reader.run(block.text));
    } else assert.fail(`a block that nobody runs: ${block.kind}`);
  }
  const text = outputs.join('\n');
  t.diagnostic(`${blocks.length} blocks`);
  assert.match(text, /registered provider example/);
  assert.match(text, /Speculative/);
  assert.match(text, /0 errors/);
  assert.match(text, /paused shard shard-0/);
  assert.match(text, /restored snapshot index=\d+ term=1 /);
  const status = await reader.run('bigfleetctl status');
  assert.match(status, /Term: +1002\n/);
  assert.match(status, /Recovering:/);
});
