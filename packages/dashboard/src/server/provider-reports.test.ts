// Proves that the report of a real conformance run becomes a badge, and that anything else stops the start with
// the flag, the file and what is wrong with it.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { readConformanceReports } from './provider-reports.ts';

/** What the report writer of packages/conformance is held to, byte for byte, by its own test. */
const WRITTEN = path.join(
  import.meta.dirname,
  '../../../conformance/src/report/testdata/report.json',
);
const folder = mkdtempSync(path.join(tmpdir(), 'conformance-'));
after(() => rmSync(folder, { recursive: true }));

function file(text: string): string {
  const name = path.join(folder, 'report.json');
  writeFileSync(name, text);
  return name;
}

test('what the suite writes is read: verdict, profiles, counts, date', async () => {
  const [read] = [...(await readConformanceReports(new Map([['aws', WRITTEN]])))];
  assert.deepEqual(read, [
    'aws',
    {
      verdict: 'FAILED',
      profiles: ['core', 'durable'],
      certifiedProfiles: [],
      behaviours: 93,
      passed: 66,
      failed: 1,
      skipped: 2,
      notRun: 24,
      requiredFailed: 1,
      requiredMissing: 8,
      atMs: Date.parse('2026-01-02T03:04:05Z'),
      subject: 'example',
    },
  ]);
});

test('a report of a program that adds keys, or knows none of ours, is still a report', async () => {
  const { certified_profiles: _, ...report } = written();
  const plain = file(JSON.stringify({ ...report, of_tomorrow: true }));
  const read = await readConformanceReports(new Map([['p', plain]]));
  assert.deepEqual(read.get('p')?.certifiedProfiles, []);
});

const CASES: readonly (readonly [name: string, text: () => string, says: RegExp])[] = [
  ['no JSON', () => 'certified', /it is no JSON: /],
  ['no object', () => '[]', /no report of bfconformance: .*expected object/i],
  ['a badge', () => '{"schemaVersion":1,"message":"CERTIFIED"}', /provider: /],
  ['another verdict', () => JSON.stringify({ ...written(), verdict: 'FINE' }), /verdict: /],
  ['a negative count', () => changed({ passed: -1 }), /summary\.passed: /],
  [
    'a part of the behaviours',
    () => changed({ total_behaviors: 94 }),
    /lists 93 behaviours, its summary 94/,
  ],
  [
    'a date that is none',
    () => JSON.stringify({ ...written(), timestamp: 'today' }),
    /timestamp: /,
  ],
];

for (const [name, text, says] of CASES) {
  test(`${name} stops the start`, async () => {
    const error = await refusal(file(text()));
    assert.match(error.message, says);
    assert.match(error.message, /^--conformance=aws=\S+report\.json: /);
  });
}

test('a file that is not there, or a folder, stops the start', async () => {
  assert.match((await refusal(path.join(folder, 'nothing'))).message, /ENOENT/);
  assert.match((await refusal(folder)).message, /EISDIR/);
});

function written(): Record<string, unknown> & { readonly summary: object } {
  return JSON.parse(readFileSync(WRITTEN, 'utf8')) as never;
}

function changed(summary: Readonly<Record<string, number>>): string {
  const report = written();
  return JSON.stringify({ ...report, summary: { ...report.summary, ...summary } });
}

async function refusal(report: string): Promise<BigFleetError> {
  const read = readConformanceReports(new Map([['aws', report]]));
  const thrown: unknown = await read.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(thrown instanceof BigFleetError, 'it was taken');
  assert.equal(thrown.code, 'conformance_report_invalid');
  return thrown;
}
