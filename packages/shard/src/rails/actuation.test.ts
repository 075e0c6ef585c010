// Proves the run-time rails: durable before acknowledged, a pause that no other source and no full
// disk can undo, flags that come back when cleared, and a start that refuses what it cannot read.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError, createVirtualRuntime, type ErrorCode } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import {
  type CapturedLog,
  captureSink,
  createLogger,
  createRegistry,
  type MetricRegistry,
} from '@bigfleet/telemetry';
import fc from 'fast-check';
import { metricValue } from '../session/testing/metric-reader.ts';
import {
  type Actuation,
  type ActuationView,
  openActuation,
  type RailRequest,
} from './actuation.ts';
import { createRailMetrics } from './metrics.ts';
import { formatRails, parseRails } from './rails-json.ts';
import type { EffectiveRails, RailFlags, RailOverrides } from './settings.ts';
import { FakeFile } from './testing/fake-file.ts';

const FLAGS: RailFlags = {
  paused: false,
  dryRun: false,
  reclaimCapFraction: 0.05,
  emptyRollupGuard: true,
  maxActionsPerCycle: 0,
};

interface Running {
  readonly actuation: Actuation;
  readonly log: CapturedLog;
  readonly registry: MetricRegistry;
  readonly seen: EffectiveRails[];
}

async function start(file: FakeFile, flags: Partial<RailFlags> = {}): Promise<Running> {
  const { runtime } = createVirtualRuntime({ seed: 'rails', drain: drainMicrotasks });
  const log = captureSink();
  const registry = createRegistry();
  const seen: EffectiveRails[] = [];
  const actuation = await openActuation({
    flags: { ...FLAGS, ...flags },
    file,
    clock: runtime.clock,
    logger: createLogger({ clock: runtime.clock, sink: log }),
    metrics: createRailMetrics(registry),
  });
  actuation.onChange(() => seen.push(actuation.effective));
  return { actuation, log, registry, seen };
}

function ask(changes: Partial<RailRequest>): RailRequest {
  return { clear: false, reason: 'drill', by: 'bigfleet://admin', ...changes };
}

async function refusal(work: Promise<ActuationView>): Promise<ErrorCode> {
  const error = await work.then(
    () => assert.fail('not refused'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof BigFleetError);
  return error.code;
}

test('a pause is in the file before it is acknowledged, and survives a restart, loudly', async () => {
  const file = new FakeFile();
  const first = await start(file);
  assert.equal(first.actuation.effective.paused, false);
  const view = await first.actuation.set(ask({ paused: true, reason: 'mass drain' }));
  assert.ok(file.text?.includes('"paused": true'));
  assert.deepEqual(view.effective.heldBy, ['runtime']);
  assert.deepEqual(view.overridden, ['paused']);
  assert.match(
    first.log.lines.at(-1) ?? '',
    /level=WARN msg="actuation settings changed" by=bigfleet:\/\/admin reason="mass drain" paused=true dry_run=false/,
  );
  const second = await start(file);
  assert.equal(second.actuation.effective.paused, true);
  assert.equal(second.actuation.view().change?.by, 'bigfleet://admin');
  assert.match(
    second.log.lines[0] ?? '',
    /level=WARN msg="actuation settings restored from rails.json".*reason="mass drain" changed_at=2026-01-01T00:00:00.000Z paused=true/,
  );
  assert.equal(await metricValue(second.registry, 'bigfleet_shard_actuation_paused'), 1);
  assert.equal(await metricValue(second.registry, 'bigfleet_shard_rail_overrides'), 1);
  assert.deepEqual(second.seen, [], 'what holds from the start is no change');
});

test('a pause is held by every source at once, and a resume says what still holds it', async () => {
  const { actuation } = await start(new FakeFile(), { paused: true });
  const both = await actuation.set(ask({ paused: true }));
  assert.deepEqual(both.effective.heldBy, ['flag', 'runtime']);
  const resumed = await actuation.set(ask({ paused: false }));
  assert.deepEqual([resumed.effective.paused, resumed.effective.heldBy], [true, ['flag']]);
  assert.deepEqual(resumed.overridden, []);
});

test('the fenced latch holds until the process ends, and is not stored', async () => {
  const file = new FakeFile();
  const { actuation, registry } = await start(file);
  actuation.latchFenced();
  actuation.latchFenced();
  assert.deepEqual(actuation.effective.heldBy, ['fenced']);
  assert.equal(await metricValue(registry, 'bigfleet_shard_fenced'), 1);
  const view = await actuation.set(ask({ clear: true }));
  assert.deepEqual(view.effective.heldBy, ['fenced']);
  assert.deepEqual((await start(file)).actuation.effective.heldBy, []);
});

test('other settings override their flag in both directions, and clear brings the flags back', async () => {
  const file = new FakeFile();
  const flags = { dryRun: true, maxActionsPerCycle: 100 };
  const { actuation } = await start(file, flags);
  const changed = await actuation.set(
    ask({ dryRun: false, reclaimCapFraction: 0.5, emptyRollupGuard: false, maxActionsPerCycle: 0 }),
  );
  assert.deepEqual(changed.effective, {
    paused: false,
    heldBy: [],
    dryRun: false,
    reclaimCapFraction: 0.5,
    emptyRollupGuard: false,
    maxActionsPerCycle: 0,
  });
  assert.deepEqual(changed.overridden, [
    'dry_run',
    'reclaim_cap_fraction',
    'empty_rollup_guard',
    'max_actions_per_cycle',
  ]);
  const again = await start(file, flags);
  assert.deepEqual(again.actuation.effective, changed.effective);
  // One more setting leaves the others as they are.
  const more = await again.actuation.set(ask({ paused: true }));
  assert.equal(more.overridden.length, 5);
  const cleared = await again.actuation.set(ask({ clear: true }));
  assert.deepEqual([cleared.effective.dryRun, cleared.effective.maxActionsPerCycle], [true, 100]);
  assert.deepEqual(cleared.overridden, []);
  assert.deepEqual((await start(file, flags)).actuation.view().overridden, []);
});

test('a full disk: a pause holds all the same and says so, any other change is refused', async () => {
  const file = new FakeFile();
  const { actuation, log } = await start(file);
  file.isFull = true;
  const paused = await actuation.set(ask({ paused: true, dryRun: true })).then(
    () => assert.fail('it was not persisted'),
    (error: unknown) => error,
  );
  assert.ok(paused instanceof BigFleetError);
  assert.deepEqual([paused.grpcStatus, paused.message], ['UNAVAILABLE', 'applied, not persisted']);
  assert.equal(actuation.effective.paused, true);
  assert.equal(actuation.effective.dryRun, false, 'only the pause was applied');
  assert.match(
    log.lines.at(-1) ?? '',
    /msg="actuation settings changed" .*reason=drill paused=true dry_run=false/,
    'what holds now is on record, durable or not',
  );
  for (const changes of [{ paused: false }, { dryRun: true }, { clear: true }]) {
    assert.equal(await refusal(actuation.set(ask(changes))), 'rails_write_failed');
    assert.equal(actuation.effective.paused, true);
    assert.equal(actuation.effective.dryRun, false);
  }
  assert.equal(file.text, undefined);
  assert.equal(log.lines.filter((line) => line.includes('could not be persisted')).length, 4);
  file.isFull = false;
  await actuation.set(ask({ dryRun: true }));
  assert.ok(file.text !== undefined);
  assert.equal((await start(file)).actuation.effective.paused, true, 'the next write keeps it');
});

test('a pause takes effect before the disk answers, also behind an older resume', async () => {
  const file = new FakeFile();
  const { actuation } = await start(file);
  await actuation.set(ask({ paused: true }));
  file.isSlow = true;
  const resume = actuation.set(ask({ paused: false }));
  const pause = actuation.set(ask({ paused: true }));
  assert.equal(actuation.effective.paused, true);
  await drainMicrotasks();
  file.step();
  await resume;
  assert.equal(actuation.effective.paused, true, 'the older resume does not lift the newer pause');
  file.isFull = true;
  await drainMicrotasks();
  file.step();
  assert.equal(await refusal(pause), 'rails_not_persisted');
  assert.equal(actuation.effective.paused, true);
});

test('what makes no sense is refused and changes nothing', async () => {
  const file = new FakeFile();
  const { actuation } = await start(file);
  const cases: readonly [string, Partial<RailRequest>][] = [
    ['no reason', { paused: true, reason: ' ' }],
    ['an endless reason', { paused: true, reason: 'x'.repeat(2_000) }],
    ['nothing', {}],
    ['clear and more', { clear: true, paused: true }],
    ['a fraction above 1', { reclaimCapFraction: 1.5 }],
    ['a negative fraction', { reclaimCapFraction: -0.1 }],
    ['no number', { reclaimCapFraction: Number.NaN }],
    ['a negative limit', { maxActionsPerCycle: -1 }],
  ];
  for (const [name, changes] of cases) {
    assert.equal(await refusal(actuation.set(ask(changes))), 'rails_invalid', name);
  }
  assert.equal(file.text, undefined);
  assert.deepEqual(actuation.effective.heldBy, []);
  await assert.rejects(start(new FakeFile(), { reclaimCapFraction: 2 }), { code: 'rails_invalid' });
});

test('a file that is not fully understood refuses the start', async () => {
  const change = '"change":{"by":"a","unixNanos":"1","reason":"r"}';
  const cases = [
    '',
    'not json',
    '[]',
    '{}',
    '{"version":2,"settings":{}}',
    '{"version":1}',
    '{"version":1,"settings":[]}',
    '{"version":1,"settings":{},"extra":1}',
    '{"version":1,"settings":{"paused":"yes"}}',
    '{"version":1,"settings":{"paused":false}}',
    '{"version":1,"settings":{"newRail":true}}',
    '{"version":1,"settings":{"reclaimCapFraction":7}}',
    '{"version":1,"settings":{"maxActionsPerCycle":1.5}}',
    '{"version":1,"settings":{},"change":{}}',
    `{"version":1,"settings":{"paused":true},${change.replace('"1"', '1')}}`,
    `{"version":1,"settings":{"paused":true},${change}`,
  ];
  for (const text of cases) {
    await assert.rejects(start(new FakeFile(text)), { code: 'rails_corrupt' }, text);
  }
  const unreadable = new FakeFile();
  unreadable.isUnreadable = true;
  await assert.rejects(start(unreadable), { code: 'rails_corrupt' });
  await start(new FakeFile(`{"version":1,"settings":{"paused":true},${change}}`));
});

test('law: what is written is read back, and no truncation of it is', () => {
  const overrides: fc.Arbitrary<RailOverrides> = fc.record(
    {
      paused: fc.constant(true as const),
      dryRun: fc.boolean(),
      reclaimCapFraction: fc.double({ min: 0, max: 1, noNaN: true }).map((f) => (f === 0 ? 0 : f)),
      emptyRollupGuard: fc.boolean(),
      maxActionsPerCycle: fc.nat(),
    },
    { requiredKeys: [], noNullPrototype: true },
  );
  const change = fc.record(
    {
      by: fc.string(),
      reason: fc.string(),
      unixNanos: fc.bigInt({ min: 0n, max: 2n ** 62n }),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(overrides, fc.option(change, { nil: undefined }), fc.nat(), (given, by, cut) => {
      const text = formatRails({ overrides: given, change: by });
      assert.deepEqual(parseRails(text), { ok: true, value: { overrides: given, change: by } });
      assert.ok(!parseRails(text.slice(0, cut % (text.length - 1))).ok);
    }),
  );
});
