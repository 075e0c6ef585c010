// Proves that every input of a recorded engine is in its trace, and that recording changes no
// decision, whatever happens to the trace.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Engine } from '../cycle/engine.ts';
import { loadEngine, readCycle } from '../cycle/plain.ts';
import { emptyMemory, heldOffKey } from '../model/cycle.ts';
import { noAssignment } from '../model/machine.ts';
import { State } from '../model/state.ts';
import { cores, fleet, machine, need } from '../testing/build.ts';
import type { TraceEntry } from './entry.ts';
import { emptyState, RecordedEngine } from './recorded-engine.ts';
import { replay } from './replay.ts';
import { Chunks } from './testing/random-run.ts';
import { TraceReader } from './trace-reader.ts';

const host = { provider: 'p', ref: 'h' };

test('every kind of input is written in the order in which it came', () => {
  const chunks = new Chunks();
  const engine = new RecordedEngine(emptyState, chunks.sink);
  const idle = machine({ id: 'idle' });
  const spare = machine({ id: 'spare', state: 'Speculative' });
  const row = need({ wants: cores(1) });
  const assigned = { ...noAssignment, priority: 7, group: 'g' };
  const put = engine.inventory.put(idle, 1000);
  const other = engine.inventory.put(spare, 1001);
  assert.ok(put.ok && other.ok);
  engine.applyRollup('a', [row]);
  engine.markReported('b');
  engine.setHeldOff(new Set([heldOffKey('a', row.profile.fingerprint)]));
  engine.releasePolicy = { onDemandHoldMs: 5, spotHoldMs: 0 };
  engine.inventory.move(put.value, State.Configuring, { cluster: 'a', assigned }, 1002);
  engine.inventory.move(other.value, State.Creating, { intendedCluster: 'a' }, 1003);
  engine.inventory.move(other.value, State.Idle, { host }, 1004);
  engine.inventory.withhold(other.value, 'not_owned');
  engine.inventory.setIdleSince(other.value, 900);
  engine.cycle({ nowMs: 1005, quotaRemaining: new Map([['p', 3]]) });
  assert.equal(engine.inventory.remove('idle'), true);
  engine.close();
  const expected: readonly Partial<TraceEntry>[] = [
    { kind: 'release_policy', policy: { onDemandHoldMs: 600_000, spotHoldMs: 60_000 } },
    { kind: 'snapshot_end', machineCount: 0, rowCount: 0 },
    { kind: 'put', machine: idle, nowMs: 1000 },
    { kind: 'put', machine: spare, nowMs: 1001 },
    { kind: 'rollup', cluster: 'a', needs: [row] },
    { kind: 'reported', cluster: 'b' },
    { kind: 'held_off', heldOff: new Set([heldOffKey('a', row.profile.fingerprint)]) },
    { kind: 'release_policy', policy: { onDemandHoldMs: 5, spotHoldMs: 0 } },
    { kind: 'move', id: 'idle', to: 4, changes: { cluster: 'a', assigned }, nowMs: 1002 },
    { kind: 'move', id: 'spare', to: 2, changes: { intendedCluster: 'a' }, nowMs: 1003 },
    { kind: 'move', id: 'spare', to: 3, changes: { host }, nowMs: 1004 },
    { kind: 'withhold', id: 'spare', reason: 'not_owned' },
    { kind: 'idle_since', id: 'spare', sinceMs: 900 },
    { kind: 'cycle', options: { nowMs: 1005, quotaRemaining: new Map([['p', 3]]) } },
  ];
  const entries = [...new TraceReader(chunks.join())];
  assert.deepEqual(entries.slice(0, -2), expected);
  assert.equal(entries.at(-2)?.kind, 'decided');
  assert.deepEqual(entries.at(-1), { kind: 'remove', id: 'idle' });
  assert.equal(replay(chunks.join()).outcome, 'identical');
});

test('what the engine refuses or what changes nothing is not written', () => {
  const chunks = new Chunks();
  const engine = new RecordedEngine(emptyState, chunks.sink);
  const bad = machine({ id: 'bad', price: Number.NaN });
  assert.deepEqual(engine.inventory.put(bad, 0), { ok: false, error: 'price' });
  assert.equal(engine.inventory.remove('nobody'), false);
  engine.setHeldOff(new Set());
  const names = Array.from({ length: 5000 }, (_, at): [string, number] => [`r${at}`, 1]);
  assert.equal(engine.applyRollup('a', [need({ wants: new Map(names) })]).ok, false);
  engine.close();
  assert.equal(engine.problem, undefined);
  const kinds = [...new TraceReader(chunks.join())].map(({ kind }) => kind);
  assert.deepEqual(kinds, ['release_policy', 'snapshot_end']);
});

test('what the caller changes after handing it over reaches nobody', () => {
  const chunks = new Chunks();
  const row = need({ wants: cores(1) });
  const key = heldOffKey('a', row.profile.fingerprint);
  const initial = new Set<string>();
  const input = fleet({ machines: [machine({ id: 'm' })], needs: [row] });
  const engine = new RecordedEngine({ ...input, heldOff: initial }, chunks.sink);
  const policy = { onDemandHoldMs: 0, spotHoldMs: 0 };
  engine.releasePolicy = policy;
  initial.add(key);
  policy.onDemandHoldMs = 1;
  engine.cycle({ nowMs: input.nowMs + 10, isFullPass: true });
  assert.equal(engine.view.actions.length, 1, 'neither held off nor released');
  const given = new Set([key]);
  engine.setHeldOff(given);
  given.delete(key);
  engine.cycle({ nowMs: input.nowMs + 20, isFullPass: true });
  assert.equal(engine.view.actions.length, 0, 'held off');
  engine.close();
  assert.equal(replay(chunks.join()).outcome, 'identical');
});

test('a snapshot holds the whole state that a run starts from', () => {
  const row = need({ wants: cores(2), group: 'g', same: 'rack', arrival: 77n });
  const input = {
    ...fleet({
      machines: [
        machine({ id: 'm10', cluster: 'b', state: 'Configured', serves: row }),
        machine({ id: 'm1' }),
        machine({ id: 'm2', state: 'Failed' }),
        machine({ id: 'm3', state: 'Creating', cluster: 'b' }),
      ],
      needs: [row],
      reported: ['z', 'a'],
      heldOff: [heldOffKey('a', 'x')],
      idleSinceMs: new Map([['m1', 123]]),
    }),
    memory: {
      parkingAges: new Map([[`a\u0000${row.profile.fingerprint}\u0000g`, 9]]),
      shortfalls: new Map([
        [
          row.profile.fingerprint,
          {
            profile: row.profile,
            deficit: cores(1),
            minUnit: cores(1),
            ageCycles: 4,
            reasonCode: 'topology_unsatisfiable' as const,
            clusters: ['a', 'b'],
          },
        ],
      ]),
    },
  };
  const chunks = new Chunks();
  new RecordedEngine(input, chunks.sink).close();
  const entries = [...new TraceReader(chunks.join())];
  const puts = entries.filter((entry) => entry.kind === 'put');
  assert.deepEqual(
    puts.map(({ machine: { id }, nowMs }) => [id, nowMs]),
    [
      ['m1', 123],
      ['m10', 0],
      ['m2', 0],
      ['m3', 0],
    ],
  );
  assert.deepEqual(
    puts.map((entry) => entry.machine).sort((a, b) => (a.id < b.id ? -1 : 1)),
    [...input.machines].sort((a, b) => (a.id < b.id ? -1 : 1)),
  );
  const [, ...rest] = entries.filter((entry) => entry.kind !== 'put');
  const [key, age] = [...input.memory.parkingAges][0] ?? [];
  const [fingerprint, shortfall] = [...input.memory.shortfalls][0] ?? [];
  assert.deepEqual(rest, [
    { kind: 'demand', cluster: 'a', needs: [row] },
    { kind: 'reported', cluster: 'a' },
    { kind: 'reported', cluster: 'z' },
    { kind: 'held_off', heldOff: input.heldOff },
    { kind: 'parking', needKey: key, ageCycles: age },
    { kind: 'shortfall', fingerprint, shortfall },
    { kind: 'snapshot_end', machineCount: 4, rowCount: 1 },
  ]);
});

test('a trace that cannot go on does not touch the run, and a new one can begin', () => {
  const chunks = new Chunks();
  const later = new Chunks();
  const input = fleet({ machines: [machine({ id: 'm' })] });
  const engine = new RecordedEngine(input, chunks.sink);
  const plain = loadEngine(input);
  const wide = need({ wants: cores(1), arrival: 2n ** 70n });
  for (const each of [engine, plain]) {
    each.applyRollup('a', [wide]);
    each.cycle({ nowMs: input.nowMs });
  }
  assert.equal(engine.problem, 'arrival_out_of_range');
  assert.deepEqual(engine.readCycle(), readCycle(plain));
  assert.deepEqual(replay(chunks.join()).end, {
    kind: 'abandoned',
    reason: 'arrival_out_of_range',
  });
  engine.applyRollup('a', []);
  engine.rotate(later.sink);
  assert.equal(engine.problem, undefined);
  engine.cycle({ nowMs: input.nowMs + 1 });
  engine.close();
  const report = replay(later.join());
  assert.equal(report.outcome, 'identical');
  assert.equal(report.verifiedCount, 1);
});

test('a sink that fails costs the run nothing', () => {
  const input = fleet({ machines: [machine({ id: 'm' })], needs: [need({ wants: cores(1) })] });
  let left = 2;
  const engine = new RecordedEngine(input, () => {
    left -= 1;
    if (left < 0) throw new Error('no space left');
  });
  engine.cycle({ nowMs: input.nowMs });
  assert.equal(engine.problem, 'sink_failed');
  assert.equal(engine.view.actions.length, 1);
  engine.inventory.move(0, State.Configuring, { cluster: 'a' }, input.nowMs);
  engine.cycle({ nowMs: input.nowMs });
  assert.equal(engine.view.actions.length, 0);
});

test('a cycle that throws ends the trace behind its inputs, and the error is the caller’s', () => {
  const chunks = new Chunks();
  const input = fleet({ machines: [machine({ id: 'm' })] });
  const engine = new RecordedEngine(input, chunks.sink);
  const hostile = new Map([['provider', 1]]);
  hostile.get = () => {
    throw new Error('a bug inside the cycle');
  };
  const cycle = (): void => engine.cycle({ nowMs: input.nowMs, quotaRemaining: hostile });
  assert.throws(cycle, /a bug inside the cycle/);
  assert.equal(engine.problem, 'cycle_threw');
  const reader = new TraceReader(chunks.join());
  assert.equal([...reader].at(-1)?.kind, 'cycle');
  assert.deepEqual(reader.end, { kind: 'abandoned', reason: 'cycle_threw' });
});

test('an empty state equals an engine that was just made', () => {
  const chunks = new Chunks();
  const recorded = new RecordedEngine(emptyState, chunks.sink);
  const engine = new Engine();
  recorded.cycle({ nowMs: 5 });
  engine.cycle({ nowMs: 5 });
  assert.deepEqual(recorded.readCycle(), readCycle(engine));
  assert.deepEqual(recorded.readCycle().memory, emptyMemory);
});
