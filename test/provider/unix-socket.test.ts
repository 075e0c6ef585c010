// Proves the Unix socket of a provider: for its owner alone, taken over from a killed process, never
// from a live one.

import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTempDir } from '../toolkit/index.ts';
import { dial, launchProvider, startProvider } from './child.ts';

test('mode 0600, stale files are replaced, live ones respected, gone after a stop', async () => {
  await using folder = createTempDir('socket');
  const path = join(folder.path, 'p.sock');
  const argv = [`--addr=unix:${path}`, '--require-tls'];
  const first = await startProvider(argv);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.match(first.process.output.text(), /security=unix/);

  const rival = await launchProvider(argv);
  assert.deepEqual(await rival.waitExit(), { kind: 'code', code: 1 });
  assert.match(rival.output.text(), /address_in_use/);

  await first.process.kill();
  assert.ok(existsSync(path), 'a killed process leaves its socket behind');
  await using second = await startProvider(argv);
  using client = dial(second.address);
  // Without TLS there is no identity to check: any shard id may be claimed.
  const { machines } = await client.calls.list({});
  const ack = await client.calls.create({
    machineId: machines[0]?.id ?? '',
    shardId: 'anyone',
    shardEpoch: 1n,
    sequenceNumber: 1n,
  });
  assert.notEqual(ack.operationId, '');
  await second.process.stop();
  assert.equal(existsSync(path), false);
});
