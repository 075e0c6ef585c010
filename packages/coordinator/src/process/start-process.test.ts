// Proves of a coordinator over SQLite, with its real sockets and files: what it says when it starts,
// that --trace-samples has one sample per command, that copies which a kill left behind in the middle
// of a snapshot are gone, and that a quota row can be taken back, after which its provider can be
// deregistered.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import {
  captureSink,
  createLogger,
  createRegistry,
  parseListenAddress,
  readSamples,
} from '@bigfleet/telemetry';
import { Coordinator, CoordinatorAdmin, createClient, createGrpcChannel } from '@bigfleet/wire';
import { DEFAULT_REBALANCE_SETTINGS } from '../moves/settings.ts';
import type { CoordinatorSettings } from './settings.ts';
import { startCoordinatorProcess } from './start-process.ts';

const runtime = realRuntime();

function settings(folder: string): CoordinatorSettings {
  const off = parseListenAddress('0');
  assert.ok(off.ok);
  return {
    nodeId: 'node-1',
    listen: '127.0.0.1:0',
    advertiseAddress: '127.0.0.1:0',
    metricsAddress: off.value,
    dataDir: path.join(folder, 'data'),
    mayBootstrap: true,
    store: { kind: 'sqlite' },
    snapshots: undefined,
    rebalance: DEFAULT_REBALANCE_SETTINGS,
    traceSamples: path.join(folder, 'samples.bin'),
    hasDebugEndpoints: false,
    hasReflection: false,
    tls: { cert: '', key: '', ca: '', requireTls: false },
    build: { version: 'test', revision: 'test' },
  };
}

test('one command, one sample; a cleared quota frees its provider', async (context) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coordinator-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const sink = captureSink();
  const lost = path.join(folder, 'data', 'snapshot-save-x');
  mkdirSync(lost, { recursive: true });
  writeFileSync(path.join(lost, 'state'), 'half a copy');
  const running = await startCoordinatorProcess({
    runtime,
    logger: createLogger({ clock: runtime.clock, sink }),
    registry: createRegistry(),
    settings: settings(folder),
    env: {},
  });
  assert.equal(existsSync(lost), false);
  const channel = createGrpcChannel({ runtime, target: running.address });
  const admin = createClient(CoordinatorAdmin, channel);
  const provider = { name: 'lab', address: 'p:9000', region: 'r' };
  await admin.registerProvider({ provider });
  const report = { shardId: 'shard-a', shardEpoch: 1n, cycle: 1n };
  await createClient(Coordinator, channel).reportShard(report);
  const row = { provider: 'lab', region: 'r' };
  await admin.setQuota({ ...row, perShard: { 'shard-a': 1 } });
  await assert.rejects(admin.deregisterProvider({ name: 'lab' }), /quota/);
  await admin.setQuota({ ...row, perShard: {} });
  await admin.deregisterProvider({ name: 'lab' });
  channel.close();
  await running.stop();
  const text = sink.lines.join('\n');
  const lines = ['coordinator listening', 'coordinator started', 'leadership won'];
  for (const line of lines) assert.ok(text.includes(`msg="${line}"`), line);
  const { series } = await readSamples(path.join(folder, 'samples.bin'));
  const commandCount = ['UpsertProvider', 'AddShard', 'SetQuota', 'SetQuota', 'RemoveProvider']
    .length;
  assert.ok((series.get('apply')?.seconds.length ?? 0) >= commandCount);
});
