// Proves that an export directory holds only whole snapshots, that `latest` always leads to one, and
// that a crash before any step changes neither; and the loop's timing, retention and failures.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { captureSink, createLogger } from '@bigfleet/telemetry';
import { type ApplyQueue, openLedger } from '../ledger/apply-queue.ts';
import { MemoryStore } from '../store/testing/index.ts';
import { openArchive } from './archive.ts';
import { SnapshotExporter, type SnapshotExporterOptions } from './export-snapshots.ts';

const never = new AbortController().signal;

interface Rig {
  readonly time: VirtualRuntime;
  readonly store: MemoryStore;
  readonly directory: string;
  readonly lines: readonly string[];
  exporter(options?: Partial<SnapshotExporterOptions>): SnapshotExporter;
  add(id: string): Promise<void>;
}

async function rig(context: TestContext): Promise<Rig> {
  const parent = mkdtempSync(path.join(tmpdir(), 'coordinator-export-'));
  context.after(() => rmSync(parent, { recursive: true, force: true }));
  const directory = path.join(parent, 'exports');
  const time = createVirtualRuntime({ seed: 'export', drain: drainMicrotasks });
  const { runtime } = time;
  const store = new MemoryStore({ runtime });
  const sink = captureSink();
  const log = createLogger({ clock: runtime.clock, sink });
  const leadership = await store.campaign(never);
  const ledger: ApplyQueue = await openLedger({ runtime, store, leadership, log });
  return {
    time,
    store,
    directory,
    lines: sink.lines,
    exporter: (options = {}) =>
      new SnapshotExporter({
        runtime,
        store,
        log,
        directory,
        intervalMs: 300_000,
        retain: 2,
        format: 'logical',
        ...options,
      }),
    add: async (id) => {
      const body = { kind: 'AddShard', id, address: 'h:1', registeredAtMs: 1 } as const;
      const applied = ledger.apply(body);
      await time.runFor(1_000);
      assert.equal((await applied).kind, 'applied');
    },
  };
}

const namesIn = (directory: string): string[] => readdirSync(directory).sort();

async function indexOfLatest(directory: string): Promise<number> {
  const latest = path.join(directory, 'latest');
  const archive = await openArchive(latest);
  await archive.copyState(path.join(directory, '..', 'copy'));
  assert.match(path.basename(realpathSync(latest)), /^20260101-\d{6}-[0-9a-f]{8}$/);
  return archive.meta.index;
}

test('exports what is new, points latest at it, keeps the newest', async (context) => {
  const r = await rig(context);
  let successCount = 0;
  const exporter = r.exporter({ onSuccess: () => successCount++ });
  assert.equal(await exporter.exportOnce(), 'nothing-new', 'an empty ledger');
  for (const id of ['a', 'b', 'c']) {
    await r.add(id);
    assert.equal(await exporter.exportOnce(), 'exported');
    assert.equal(await exporter.exportOnce(), 'nothing-new');
  }
  assert.equal(await indexOfLatest(r.directory), 3);
  assert.equal(namesIn(r.directory).length, 3, 'two snapshots and latest');
  assert.equal(successCount, 7);
  assert.match(r.lines.join('\n'), /msg="snapshot exported" dest=.* index=3 term=1/);
});

test('retain 0 keeps all', async (context) => {
  const r = await rig(context);
  for (const id of ['a', 'b', 'c']) {
    await r.add(id);
    await r.exporter({ retain: 0 }).exportOnce();
  }
  assert.equal(namesIn(r.directory).length, 4);
});

const STEPS = [
  'write state',
  'write meta',
  'rename directory',
  'make link',
  'rename link',
  'remove old',
];

for (const crashAt of STEPS) {
  test(`a crash before "${crashAt}" leaves whole snapshots and a latest that leads to one`, async (context) => {
    const r = await rig(context);
    for (const id of ['a', 'b']) {
      await r.add(id);
      await r.exporter().exportOnce();
    }
    await r.add('c');
    const crash = new Error('crash');
    const onStep = (step: string): void => {
      if (step === crashAt) throw crash;
    };
    await assert.rejects(r.exporter({ onStep }).exportOnce(), crash);
    const index = await indexOfLatest(r.directory);
    assert.equal(index, crashAt === 'remove old' ? 3 : 2);
    for (const name of namesIn(r.directory).filter((entry) => /^\d/.test(entry)))
      await (await openArchive(path.join(r.directory, name))).copyState(
        path.join(r.directory, '..', 'copy'),
      );
    assert.equal(await r.exporter().exportOnce(), 'exported', 'the next attempt succeeds');
    assert.equal(await indexOfLatest(r.directory), 3);
    assert.deepEqual(
      namesIn(r.directory).filter((name) => name.startsWith('.')),
      [],
    );
  });
}

test('the loop exports at once and every interval, and outlives failures', async (context) => {
  const r = await rig(context);
  await r.add('a');
  let attempts = 0;
  let failures = 0;
  const attempted = Promise.withResolvers<void>();
  const stop = new AbortController();
  const exporter = r.exporter({
    directory: path.join('/dev/null', 'nowhere'),
    onSuccess: () => assert.fail('must not succeed'),
    onFailure: () => (failures += 1),
  });
  const status = r.store.status.bind(r.store);
  r.store.status = () => {
    if (++attempts === 3) attempted.resolve();
    return status();
  };
  const running = exporter.run(stop.signal);
  for (let turn = 0; turn < 2_000 && attempts < 3; turn++) {
    await r.time.runFor(300_000);
    await drainMicrotasks();
  }
  await attempted.promise;
  stop.abort();
  await running;
  assert.match(r.lines.join('\n'), /level=ERROR msg="snapshot export failed"/);
  assert.equal(failures, attempts);
});

test('the state file is the state: a byte-stable document', async (context) => {
  const r = await rig(context);
  await r.add('a');
  await r.exporter().exportOnce();
  const state = readFileSync(path.join(r.directory, 'latest', 'state'), 'utf8');
  assert.match(state, /"id":"a"/);
});
