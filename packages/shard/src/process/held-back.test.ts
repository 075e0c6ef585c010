// Proves in a whole shard that the record of a cycle says what became of its decisions: a reclaim
// that rail 1 held back, a pause, and roll-ups that were refused or held.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { State } from '@bigfleet/engine';
import { fourCores } from '../core/testing/stage.ts';
import { describeExplanation, explainRecords } from '../offline/explain-records.ts';
import { describeRecordLine, type RecordLine, recordLines } from '../offline/record-lines.ts';
import type { TestOperator } from '../session/testing/test-operator.ts';
import { LIBRARY_SETTINGS, type ShardSettings } from './shard-options.ts';
import { demandOf, ShardStage } from './testing/shard-stage.ts';

const MACHINES = 6;

function idOf(at: number): string {
  return `host-${at}`;
}

/** Six nodes that serve `blue`. */
async function serving(
  rails: Partial<ShardSettings['rails']>,
): Promise<{ stage: ShardStage; operator: TestOperator }> {
  const stage = new ShardStage({
    settings: { rails: { ...LIBRARY_SETTINGS.rails, ...rails } },
  });
  for (let at = 0; at < MACHINES; at++) stage.fake.addIdle(fourCores(idOf(at)));
  await stage.start();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4 * MACHINES) });
  await stage.serve(operator, 15_000);
  for (let at = 0; at < MACHINES; at++) assert.equal(stage.stateOf(idOf(at)), State.Configured);
  return { stage, operator };
}

async function linesOf({ records }: ShardStage): Promise<RecordLine[]> {
  const lines: RecordLine[] = [];
  for await (const line of recordLines(records)) lines.push(line);
  return lines;
}

test('a reclaim that rail 1 holds back is in the record of its cycle, with its sentence', async () => {
  const { stage, operator } = await serving({ reclaimCapFraction: 0.05 });
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await stage.time.runFor(1_000);
  const draining = Array.from({ length: MACHINES }, (_, at) => idOf(at)).filter(
    (id) => stage.stateOf(id) !== State.Configured,
  );
  assert.equal(draining.length, 1, 'one of five goes');
  assert.equal(await stage.metric('reclaims_capped_total'), 4);
  await stage.stop();
  const lines = await linesOf(stage);
  const [first] = lines.filter(({ heldBack }) => heldBack !== undefined);
  assert.deepEqual(first?.heldBack, {
    actions: { deferred_reclaim_cap: 4 },
    rollups: [],
    unnamedRollupCount: 0,
    problem: '',
  });
  assert.match(describeRecordLine(first), / Reclaim=5 unmet=0 deferred_reclaim_cap=4$/);
  let heldCount = 0;
  for (let at = 0; at < MACHINES; at++) {
    const question = { subject: { machineId: idOf(at) }, cycle: first.cycle };
    const result = await explainRecords(stage.records, question);
    assert.ok(result.kind === 'answered');
    const codes = result.dispositions.map(({ code }) => code);
    const isHeld = result.answer.kind === 'explained' && !draining.includes(idOf(at));
    assert.deepEqual(codes, isHeld ? ['deferred_reclaim_cap'] : [], idOf(at));
    heldCount += codes.length;
    if (!isHeld) continue;
    const text = describeExplanation(result);
    assert.match(text, /was reclaimed from cluster blue/);
    assert.match(text, /but held back \(deferred_reclaim_cap\): at most 1 reclaim of cluster blue/);
  }
  assert.equal(heldCount, 4);
});

test('a paused shard says so in every record that decided something', async () => {
  const { stage, operator } = await serving({});
  const paused = stage.admin().setActuation({ paused: true, reason: 'a test' });
  await stage.settle();
  await paused;
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await stage.time.runFor(25_000);
  await stage.stop();
  const held = (await linesOf(stage)).filter(({ heldBack }) => heldBack !== undefined);
  assert.ok(held.length >= 2);
  for (const { heldBack } of held) assert.deepEqual(heldBack?.actions, { suppressed: 5 });
});

test('refused and held roll-ups are in the record of the next cycle, and once', async () => {
  const { stage, operator } = await serving({ emptyRollupGuard: true });
  const many = demandOf('blue', 4 * MACHINES);
  const [need] = many.needs;
  assert.ok(need !== undefined);
  const rows = Array.from({ length: 12 }, (_, at) => ({
    ...need,
    priority: 1_000 + at,
    aggregateResources: { cpu: '2' },
  }));
  operator.send({ case: 'rollup', value: { ...many, needs: rows } });
  await stage.time.runFor(1_000);
  const bad = { ...need, aggregateResources: { cpu: 'many' } };
  for (const timestampUnixNanos of [5n, 6n]) {
    operator.send({ case: 'rollup', value: { ...many, timestampUnixNanos, needs: [bad] } });
    await stage.settle();
  }
  operator.send({ case: 'rollup', value: { ...many, clusterId: 'red' } });
  await stage.settle();
  operator.send({ case: 'rollup', value: { ...many, needs: [need] } });
  await stage.time.runFor(30_000);
  await stage.stop();
  const told = (await linesOf(stage)).flatMap(({ heldBack }) => heldBack?.rollups ?? []);
  assert.deepEqual(
    told.map(({ cluster, code, count }) => `${cluster} ${code} ${count}`),
    ['blue bad_quantity 2', 'blue cluster_mismatch 1', 'blue rollup_quarantined 1'],
  );
  assert.match(told[0]?.detail ?? '', /cpu/);
  assert.equal(told[2]?.detail, '1 rows after 12');
});
