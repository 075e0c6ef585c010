// Proves that readers get what became of a decision with it: over ListRecords, from the files and
// followed, over the feed, in an explanation; and that the directory replays as if nothing was said.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeDispositions,
  decodeRecord,
  dispositionAt,
  explainDispositions,
} from '@bigfleet/engine';
import type { RecordFrame } from '@bigfleet/wire';
import { fourCores, openRails } from '../core/testing/stage.ts';
import { replayDirectory } from '../offline/replay-directory.ts';
import { ReadStage } from './testing/read-stage.ts';

const FORMAT = { record: 2, dispositions: 129 };

/** Six machines serve `blue`, five of them too many; one of these may go in each cycle. */
async function cappedStage(seed: string): Promise<ReadStage> {
  const stage = new ReadStage(seed);
  for (let at = 0; at < 6; at++) stage.fake.addIdle(fourCores(`host-${at}`));
  stage.core.start();
  await stage.settle();
  await stage.demand('blue', 24);
  await stage.time.runFor(20_000);
  stage.rails = { ...openRails, reclaimCapFraction: 0.05 };
  await stage.demand('blue', 4);
  await stage.time.runFor(1_000);
  return stage;
}

/** What each frame is about: `5 dispositions`, `5 record`. */
function shape({ cycle, format }: RecordFrame): string {
  return `${cycle} ${format === FORMAT.dispositions ? 'dispositions' : 'record'}`;
}

function heldIds(frames: readonly RecordFrame[]): string[] {
  const [before, after] = frames;
  assert.ok(before !== undefined && after !== undefined);
  const dispositions = decodeDispositions(before.payload);
  const record = decodeRecord(after.payload);
  assert.ok(dispositions.ok && record.ok);
  assert.equal(dispositions.value.actionCount, record.value.actions.length);
  const held = record.value.actions.filter((_, place) => dispositionAt(dispositions.value, place));
  return held.map(({ machineId }) => machineId).sort();
}

test('ListRecords sends the dispositions before their record, and the limit counts records', async () => {
  const stage = await cappedStage('list');
  await stage.records.flush();
  const frames = await stage.all(stage.query().listRecords({}));
  const capped = frames.filter(({ format }) => format === FORMAT.dispositions);
  const [cycle] = capped.map((frame) => frame.cycle);
  assert.ok(cycle !== undefined);
  const asked = { fromCycle: cycle, limit: 1 };
  const one = await stage.all(stage.query().listRecords(asked));
  assert.deepEqual(one.map(shape), [`${cycle} dispositions`, `${cycle} record`]);
  assert.deepEqual(one[0]?.actionHash, one[1]?.actionHash);
  assert.equal(heldIds(one).length, 4);
  const following = stage.query().listRecords({ ...asked, limit: 0, follow: true });
  const followed: RecordFrame[] = [];
  for (let count = 0; count < 2; count++) {
    const step = await stage.answer(following.next());
    if (step.done !== true) followed.push(step.value);
  }
  await stage.answer(Promise.resolve(following.return?.()));
  assert.deepEqual(followed.map(shape), one.map(shape));
  assert.deepEqual(heldIds(followed), heldIds(one));
  await stage.stop();
});

test('an explanation over the wire ends with what held the action back', async () => {
  const stage = await cappedStage('explain');
  await stage.records.flush();
  const frames = await stage.all(stage.query().listRecords({}));
  const at = frames.findIndex(({ format }) => format === FORMAT.dispositions);
  const [machineId = ''] = heldIds(frames.slice(at, at + 2));
  const cycle = frames[at]?.cycle ?? 0n;
  const subject = { case: 'machineId', value: machineId } as const;
  const response = await stage.answer(stage.query().explain({ subject, cycle }));
  const record = decodeRecord(frames[at + 1]?.payload ?? new Uint8Array(0));
  const dispositions = decodeDispositions(frames[at]?.payload ?? new Uint8Array(0));
  assert.ok(record.ok && dispositions.ok);
  const [note] = explainDispositions(record.value, dispositions.value, { machineId });
  assert.equal(note?.code, 'deferred_reclaim_cap');
  assert.equal(response.reasonCode, 'phase3.excess');
  assert.ok(response.text.endsWith(` ${note.text}`), response.text);
  await stage.stop();
});

test('the feed carries both, and the directory replays to the same decisions', async () => {
  const stage = await cappedStage('feed');
  const watching = stage.query().watch({ records: true });
  const seen: string[] = [];
  for (let count = 0; count < 2; count++) await stage.answer(watching.next());
  await stage.time.runFor(10_000);
  while (seen.length < 2) {
    const step = await stage.answer(watching.next());
    assert.ok(step.done !== true);
    const { frame } = step.value;
    if (frame.case === 'record') seen.push(shape(frame.value));
  }
  await stage.answer(Promise.resolve(watching.return?.()));
  const [first = '', second = ''] = seen;
  assert.match(first, / dispositions$/);
  assert.equal(second, first.replace('dispositions', 'record'));
  await stage.stop();
  const replayed = await replayDirectory(stage.segments);
  assert.deepEqual([replayed.outcome, replayed.damage], ['identical', []]);
  assert.equal(replayed.matchedCount, stage.hashes.length);
});
