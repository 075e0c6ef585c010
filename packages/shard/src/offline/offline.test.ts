// Proves that a records directory alone replays, lists and explains the run that wrote it, and that
// damage costs what is damaged and is said.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeRecord, explain, type NeedRef } from '@bigfleet/engine';
import { fourCores } from '../core/testing/stage.ts';
import { MemorySegments } from '../records/testing/memory-segments.ts';
import { explainResponse } from '../read/explain-response.ts';
import { ReadStage } from '../read/testing/read-stage.ts';
import { readRecords } from '../records/read-records.ts';
import { decodeSegment, encodeFrames, segmentHeader } from '../records/segment-format.ts';
import { describeDirectoryReplay, replayDirectory } from './replay-directory.ts';
import { describeExplanation, explainRecords } from './explain-records.ts';
import { describeRecordLine, recordLines } from './record-lines.ts';
import type { SegmentFiles } from '../records/segment-files.ts';

interface Run {
  readonly files: MemorySegments;
  readonly hashes: readonly string[];
  /** A need that stayed short. */
  readonly short: NeedRef;
}

async function runOf(seed: string, recordsMaxBytes?: number): Promise<Run> {
  const stage = new ReadStage(seed, recordsMaxBytes === undefined ? {} : { recordsMaxBytes });
  for (let at = 0; at < 6; at++) stage.fake.addIdle(fourCores(`host-${at}`));
  stage.core.start();
  await stage.settle();
  for (const [cluster, cores] of [
    ['blue', 16],
    ['green', 8],
    ['blue', 4],
    ['red', 40],
  ] as const) {
    await stage.demand(cluster, cores, cluster === 'red' ? 5 : 1_000);
    await stage.time.runFor(40_000);
  }
  const [shortfall] = await stage.all(stage.query().listShortfalls({}));
  const fingerprint = shortfall?.profileFingerprint ?? '';
  await stage.stop();
  const { segments: files, hashes } = stage;
  return { files, hashes, short: { cluster: 'red', fingerprint, group: '' } };
}

/** The same directory, one file changed. */
function damaged(
  files: SegmentFiles,
  kind: 'records' | 'trace',
  change: (bytes: Uint8Array) => Uint8Array,
): SegmentFiles {
  return {
    ...passing(files),
    read: async (name, bytes) => {
      const content = await files.read(name, bytes);
      return name.endsWith(kind) ? change(Uint8Array.from(content)) : content;
    },
  };
}

function passing(files: SegmentFiles): SegmentFiles {
  return {
    list: () => files.list(),
    create: (name) => files.create(name),
    read: (name, bytes) => files.read(name, bytes),
    remove: (name) => files.remove(name),
  };
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
}

test('replay reproduces every action hash of the run', async () => {
  const { files, hashes } = await runOf('replay');
  const result = await replayDirectory(files);
  assert.equal(result.outcome, 'identical', describeDirectoryReplay(result));
  assert.deepEqual(
    result.traces.flatMap(({ report }) => report.hashes),
    hashes,
  );
  assert.equal(result.recordCount, hashes.length);
  assert.equal(result.matchedCount, hashes.length);
  assert.equal(result.contradictedCount, 0);
  const full = await replayDirectory(files, { mode: 'full' });
  assert.equal(full.outcome, 'identical');
  assert.match(describeDirectoryReplay(result), /outcome: identical/);
});

test('a run over several traces within a small bound replays too', async () => {
  const { files } = await runOf('rotated', 40_000);
  const result = await replayDirectory(files);
  assert.equal(result.outcome, 'identical', describeDirectoryReplay(result));
  assert.equal(result.contradictedCount, 0);
  assert.ok(result.matchedCount > 0);
});

test('a record that says something else than the trace is found', async () => {
  const { files, hashes } = await runOf('contradicted');
  const lying = damaged(files, 'records', (bytes) => {
    const { records } = decodeSegment(bytes);
    const frames = records.map((record, at) =>
      encodeFrames(at === 2 ? { ...record, actionHash: new Uint8Array(16).fill(1) } : record),
    );
    return Buffer.concat([segmentHeader(7n), ...frames]);
  });
  const result = await replayDirectory(lying);
  assert.equal(result.contradictedCount, 1);
  assert.equal(result.matchedCount, hashes.length - 1);
  assert.equal(result.outcome, 'different');
});

test('a damaged trace is replayed up to the damage, a damaged record segment is named', async () => {
  const { files } = await runOf('damage');
  const whole = await replayDirectory(files);
  const cut = await replayDirectory(
    damaged(files, 'trace', (bytes) => bytes.subarray(0, Math.floor(bytes.length / 2))),
  );
  const [before] = whole.traces;
  const [after] = cut.traces;
  assert.ok(after !== undefined && before !== undefined);
  assert.ok(after.report.verifiedCount < before.report.verifiedCount);
  assert.equal(after.report.outcome, 'identical');
  assert.equal(after.report.end?.kind, 'torn');
  const flip = await replayDirectory(
    damaged(files, 'records', (bytes) => flipped(bytes, bytes.length - 5)),
  );
  assert.equal(flip.recordCount, whole.recordCount - 1);
  assert.match(flip.damage.join(), /damaged and were not read/);
  const nothing = await replayDirectory(new MemorySegments());
  assert.equal(nothing.outcome, 'nothing');
});

test('records are one line each, by cycle and subject; damage ends a segment only', async () => {
  const { files, hashes } = await runOf('lines');
  const lines = [];
  for await (const line of recordLines(files)) lines.push(line);
  assert.deepEqual(
    lines.map(({ actionHash }) => actionHash),
    hashes,
  );
  assert.match(describeRecordLine(lines[1] ?? assert.fail()), /^cycle 2 epoch 7 \d{4}-\d\d-\d\dT/);
  const busy = lines.find(({ decided }) => (decided?.actions['Bootstrap'] ?? 0) > 0);
  assert.match(describeRecordLine(busy ?? assert.fail()), /Bootstrap=\d+ unmet=\d+$/);
  const about: bigint[] = [];
  const query = { subject: { machineId: 'host-0' }, limit: 2 };
  for await (const { cycle } of recordLines(files, query)) about.push(cycle);
  assert.ok(about.length >= 1 && about.length <= 2);
  const told: string[] = [];
  const onDamage = (name: string, bytes: number): void => {
    told.push(`${name} ${bytes}`);
  };
  let readCount = 0;
  const cut = damaged(files, 'records', (bytes) => bytes.subarray(0, bytes.length - 1));
  for await (const _ of recordLines(cut, { onDamage })) readCount++;
  assert.equal(readCount, hashes.length - 1);
  assert.equal(told.length, 1);
});

test('explain finds the newest record that mentions the subject, and says when none does', async () => {
  const { files, short } = await runOf('explain');
  for (const subject of [{ machineId: 'host-0' }, { need: short }]) {
    const result = await explainRecords(files, { subject });
    assert.ok(result.kind === 'answered');
    assert.ok(result.answer.kind === 'explained');
    assert.equal(result.epoch, 7n);
    // The library's answer for the last record that mentions it.
    let newest: { cycle: bigint; text: string } | undefined;
    for await (const { cycle, payload } of readRecords(files)) {
      const record = decodeRecord(payload);
      assert.ok(record.ok);
      const answer = explain(record.value, subject);
      if (answer.kind === 'explained') newest = { cycle, text: answer.text };
    }
    assert.deepEqual({ cycle: result.cycle, text: result.answer.text }, newest);
    assert.ok(describeExplanation(result).includes(result.answer.text));
  }
  const first = await explainRecords(files, { subject: { machineId: 'host-0' }, cycle: 1n });
  assert.ok(first.kind === 'answered' && first.answer.kind === 'not_mentioned');
  const nobody = await explainRecords(files, { subject: { machineId: 'nobody' } });
  assert.match(describeExplanation(nobody), /none of the \d+ records mentions machine nobody/);
  const never = await explainRecords(files, { subject: { machineId: 'host-0' }, cycle: 9_999n });
  assert.match(describeExplanation(never), /no record of cycle 9999 is kept/);
});

test('a machine that was only looked at is explained by that, and by what was done to it first', async () => {
  const { files } = await runOf('spared');
  const found = new Map<string, bigint>();
  const acted = new Set<string>();
  for await (const { cycle, payload } of readRecords(files)) {
    const record = decodeRecord(payload);
    assert.ok(record.ok);
    for (const { machineId } of record.value.actions) acted.add(machineId);
    const named = record.value.needs.flatMap(({ victims }) => victims);
    for (const machineId of named.flatMap(({ machineIds }) => machineIds)) {
      if (explain(record.value, { machineId }).kind === 'spared') found.set(machineId, cycle);
    }
  }
  const [machineId, cycle] = [...found].find(([id]) => acted.has(id)) ?? ['', 0n];
  assert.notEqual(machineId, '', 'a machine was bootstrapped and later looked at');
  const subject = { machineId };
  const then = await explainRecords(files, { subject, cycle });
  assert.ok(then.kind === 'answered' && then.answer.kind === 'spared');
  assert.equal(then.answer.reasonCode, 'victim_priority_not_lower');
  assert.match(
    describeExplanation(then),
    /was looked at for the need of cluster red .* left alone/,
  );
  const lately = await explainRecords(files, { subject });
  assert.ok(lately.kind === 'answered' && lately.answer.kind === 'explained');
  const only = await explainRecords(await onlyCycle(files, cycle), { subject });
  assert.ok(only.kind === 'answered' && only.answer.kind === 'spared' && only.cycle === cycle);
  const response = explainResponse(only);
  assert.equal(response.reasonCode, 'victim_priority_not_lower');
  assert.ok(response.candidates?.some((row) => row.machineId === machineId));
});

/** A directory that holds the record of one cycle and nothing else. */
async function onlyCycle(files: MemorySegments, cycle: bigint): Promise<SegmentFiles> {
  const kept = readRecords(files, { fromCycle: cycle, toCycle: cycle });
  const { value } = await kept.next();
  assert.ok(value !== undefined);
  return damaged(files, 'records', () =>
    Uint8Array.from(Buffer.concat([segmentHeader(value.epoch), encodeFrames(value)])),
  );
}

test('what would have helped is tried on the trace, and not claimed without it', async () => {
  const { files, short } = await runOf('counterfactual');
  const question = { subject: { need: short }, hasCounterfactuals: true };
  const result = await explainRecords(files, question);
  assert.ok(result.kind === 'answered');
  assert.ok(result.counterfactuals !== undefined && result.counterfactuals !== 'no_trace');
  assert.notEqual(result.counterfactuals.kind, 'unknown_need');
  assert.notEqual(result.counterfactuals.kind, 'no_change_needed');
  const untraced: SegmentFiles = {
    ...passing(files),
    list: async () => (await files.list()).filter(({ kind }) => kind === 'records'),
  };
  const blind = await explainRecords(untraced, question);
  assert.ok(blind.kind === 'answered' && blind.counterfactuals === 'no_trace');
  assert.match(describeExplanation(blind), /the trace of that cycle is not kept/);
});
