// Proves the bytes of report.json, junit.xml and badge.json against files beside this test, that
// hostile text in findings cannot break them, and what the console says of each of the 93 ids.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { behaviours } from '../catalogue/catalogue.ts';
import type { LaneReport, SuiteRun } from '../run/result.ts';
import {
  absent,
  cleanBaseline,
  laneReport,
  notAsked,
  passed,
  suiteRun,
  unmet,
} from '../run/testing/runs.ts';
import { judge } from '../verdict/judge.ts';
import { badgeOf, writeReports } from './write.ts';
import { closingLine, renderConsole } from './console.ts';
import { jsonReport } from './json.ts';
import { renderJunit } from './junit.ts';

/** A bit of everything: notes, both skips, a failure with hostile text, a broken lane. */
function mixedRun(): SuiteRun {
  const extension = laneReport('extension', {
    B109: absent,
    B302: unmet,
    B501: {
      kind: 'failed',
      finding: 'key "a\0b" <lost> & \u001B[31mred',
      detail: 'key "a\0b" <lost> & \u001B[31mred\nexpected ]]> "x"\uD800',
    },
  });
  const strict: LaneReport = {
    kind: 'ran',
    lane: 'extension',
    judged: 'localhost:9001',
    results: [
      {
        name: 'TestB210_TransitionErrors',
        behaviourId: 'B210',
        outcome: passed,
        durationMs: 17.25,
        notes: ['strict'],
      },
    ],
  };
  return suiteRun({
    profiles: ['core', 'durable'],
    lanes: [
      cleanBaseline,
      extension,
      strict,
      notAsked('fault', 'needs --fault-target'),
      { kind: 'broken', lane: 'durable', problem: 'did not boot' },
      notAsked('scale', 'needs --profile core,scale'),
    ],
  });
}

for (const file of ['report.json', 'junit.xml', 'badge.json']) {
  test(`${file} has the expected bytes`, async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'bfconformance-test-'));
    try {
      const run = mixedRun();
      await writeReports(path.join(folder, 'made'), run, judge(run));
      const written = await readFile(path.join(folder, 'made', file), 'utf8');
      const golden = new URL(`testdata/${file}`, import.meta.url);
      assert.equal(written, readFileSync(golden, 'utf8'));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}

test('the keys of report.json come in the order of the specification', () => {
  const run = mixedRun();
  const report = jsonReport(run, judge(run));
  assert.deepEqual(
    Object.keys(report).slice(0, 8),
    'provider profiles timestamp baseline extension behaviors summary verdict'.split(' '),
  );
  assert.deepEqual(
    Object.keys(report.behaviors[0] ?? {}),
    'id area title profiles phase required status tests'.split(' '),
  );
  assert.equal(report.timestamp, '2026-01-02T03:04:05Z');
  assert.equal(report.behaviors.length, 93);
});

test('badge colours follow the verdict', () => {
  const certified = suiteRun();
  assert.deepEqual(badgeOf(judge(certified)), {
    schemaVersion: 1,
    label: 'bigfleet conformance',
    message: 'CERTIFIED (69/69)',
    color: 'brightgreen',
  });
  assert.equal(badgeOf(judge(mixedRun())).color, 'red');
  assert.equal(badgeOf(judge(mixedRun())).message, 'FAILED (66/69)');
  assert.equal(badgeOf(judge(suiteRun({ lanes: [] }))).color, 'yellow');
  assert.equal(badgeOf(judge(suiteRun({ lanes: [] }))).message, 'INCOMPLETE (0/0)');
});

test('junit.xml of a run without a baseline has one suite', () => {
  const run = suiteRun({ lanes: [notAsked('baseline'), laneReport('extension')] });
  const xml = renderJunit(run);
  assert.equal(xml.includes('upstream-baseline'), false);
  assert.match(
    xml,
    /<testsuites name="bigfleet-conformance:example" tests="69" failures="0" skipped="0">/,
  );
});

test('the console has one line for each of the 93 ids, and ends with the verdict', () => {
  const run = mixedRun();
  const lines = renderConsole(run, judge(run));
  const idLines = lines.filter((line) => /^B\d+ /.test(line));
  assert.deepEqual(
    idLines.map((line) => line.split(' ')[0]),
    behaviours.map(({ id }) => id),
  );
  const lineOf = (id: string): string => idLines.find((line) => line.startsWith(`${id} `)) ?? '';
  assert.match(lineOf('B101'), /^B101   passed  Four full/);
  assert.match(lineOf('B109'), /skipped .* \(capability-absent: no Delete\)$/);
  assert.match(lineOf('B302'), /skipped .* \(precondition-unmet: seed more\)$/);
  assert.match(lineOf('B210'), /passed .* \[strict\]$/);
  assert.match(lineOf('B501'), /failed .*: key "a b" <lost> &  \[31mred$/);
  assert.equal(lineOf('B701'), 'B701   not run (needs --fault-target)');
  assert.equal(lineOf('B1001'), 'B1001  not run (did not boot)');
  assert.ok(lines.every((line) => !/\p{Cc}/u.test(line)));
  assert.ok(lines.includes('  Lifecycle          7/8'));
  assert.ok(lines.includes('required failures: 1'));
  assert.ok(lines.includes('required missing: 8'));
  assert.equal(lines.at(-1), '>> VERDICT: FAILED (certified profiles: none)');
});

test('a verdict names the certified profiles', () => {
  const last = (run: SuiteRun): string | undefined => renderConsole(run, judge(run)).at(-1);
  assert.equal(last(suiteRun()), '>> VERDICT: CERTIFIED (core)');
  const two = suiteRun({
    profiles: ['core', 'fault'],
    lanes: [cleanBaseline, laneReport('extension'), notAsked('fault')],
  });
  assert.equal(last(two), '>> VERDICT: INCOMPLETE (certified profiles: core)');
});

test('closing lines count what was not judged as skipped', () => {
  const fake = suiteRun({
    lanes: [cleanBaseline, laneReport('extension'), laneReport('scale')],
  });
  assert.equal(closingLine('fake', judge(fake)), 'fake: 78 passed, 0 failed, 15 skipped');
  const lanes = (['extension', 'fault', 'durable', 'scale'] as const).map((lane) =>
    laneReport(lane),
  );
  assert.equal(
    closingLine('template', judge(suiteRun({ lanes }))),
    'template: 93 passed, 0 failed',
  );
});
