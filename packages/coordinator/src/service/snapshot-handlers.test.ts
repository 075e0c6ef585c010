// Proves that a snapshot is handed out by a leader only: meta first with the checksum of what follows,
// one line in the change log, and nothing at all from a leader that was deposed while it copied.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { createLogger } from '@bigfleet/telemetry';
import { type CallContext, SnapshotFormat } from '@bigfleet/wire';
import { CoordinatorStage, type StagedReplica } from '../process/testing/coordinator-stage.ts';
import { LeaderGate } from './leader-gate.ts';
import { snapshotHandlers } from './snapshot-handlers.ts';

const CALL: CallContext = {
  path: '/bigfleet.v1alpha1.Coordinator/SnapshotSave',
  peer: { address: '10.0.0.1:5', identity: { kind: 'unverified' } },
  metadata: new Map(),
  signal: new AbortController().signal,
  setTrailer: () => undefined,
};

interface Frame {
  readonly case: string | undefined;
  readonly value: unknown;
}

interface Saving {
  readonly stage: CoordinatorStage;
  readonly leader: StagedReplica;
  readonly spoolDir: string;
  /** The frames of one call. */
  readonly save: () => Promise<readonly Frame[]>;
}

async function saving(t: TestContext): Promise<Saving> {
  const stage = new CoordinatorStage();
  const leader = await stage.start('node-0');
  const report = { shardId: 'shard-a', shardEpoch: 1n, cycle: 1n };
  await stage.run(stage.coordinator(leader).reportShard(report));
  const spoolDir = mkdtempSync(path.join(tmpdir(), 'snapshot-handlers-'));
  t.after(() => rmSync(spoolDir, { recursive: true }));
  const { store, replica } = leader;
  const runtime = realRuntime();
  const { snapshotSave } = snapshotHandlers({
    gate: new LeaderGate(replica, () => undefined),
    logger: createLogger({ clock: runtime.clock, sink: stage.log }),
    store,
    runtime,
    dataDir: spoolDir,
  });
  assert.ok(typeof snapshotSave === 'function');
  // Its own look waits for virtual time, which stands still beside real files.
  store.confirm = () => Promise.resolve('leading');
  const $typeName = 'bigfleet.v1alpha1.SnapshotSaveRequest' as const;
  const request = { $typeName, format: SnapshotFormat.LOGICAL };
  const save: Saving['save'] = async () => {
    const frames: Frame[] = [];
    for await (const { payload } of snapshotSave(request, CALL)) {
      frames.push({ case: payload?.case, value: payload?.value });
    }
    return frames;
  };
  return { stage, leader, spoolDir, save };
}

function auditLines({ stage }: Saving): readonly string[] {
  return stage.log.lines.filter((line) => line.includes('/SnapshotSave'));
}

test('meta comes first and describes what follows; the change log has a line', async (t) => {
  const s = await saving(t);
  const [meta, ...chunks] = await s.save();
  assert.deepEqual(
    [meta?.case, chunks.every((chunk) => chunk.case === 'data')],
    ['metaJson', true],
  );
  const bytes = Buffer.concat(chunks.map(({ value }) => value as Uint8Array));
  const described = JSON.parse(Buffer.from(meta?.value as Uint8Array).toString()) as object;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  assert.deepEqual({ ...described, sha256, size: bytes.length }, described);
  assert.equal(auditLines(s).length, 1);
  assert.deepEqual(readdirSync(s.spoolDir), []);
});

test('a leader that was deposed while it copied hands out nothing, and leaves no file', async (t) => {
  const s = await saving(t);
  s.leader.store.confirm = () => Promise.resolve('deposed');
  await assert.rejects(s.save(), { code: 'FAILED_PRECONDITION' });
  assert.deepEqual([auditLines(s), readdirSync(s.spoolDir)], [[], []]);
});
