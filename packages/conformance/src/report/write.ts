// Writes the three report files. The folder is made; old reports in it are replaced.

import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { SuiteRun } from '../run/result.ts';
import type { Judgement, Verdict } from '../verdict/judge.ts';
import { jsonReport, renderJson } from './json.ts';
import { renderJunit } from './junit.ts';
import { countStatus } from './totals.ts';

export async function writeReports(
  folder: string,
  run: SuiteRun,
  judgement: Judgement,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'report.json'), renderJson(jsonReport(run, judgement)));
  await writeFile(path.join(folder, 'junit.xml'), renderJunit(run));
  await writeFile(path.join(folder, 'badge.json'), renderJson(badgeOf(judgement)));
}

/** badge.json: the endpoint format of shields (conformance §7). */
export interface Badge {
  readonly schemaVersion: 1;
  readonly label: string;
  readonly message: string;
  readonly color: string;
}

const colors: Readonly<Record<Verdict, string>> = {
  CERTIFIED: 'brightgreen',
  FAILED: 'red',
  INCOMPLETE: 'yellow',
};

export function badgeOf(judgement: Judgement): Badge {
  const passed = countStatus(judgement, 'passed');
  const judged = passed + countStatus(judgement, 'failed') + countStatus(judgement, 'skipped');
  return {
    schemaVersion: 1,
    label: 'bigfleet conformance',
    message: `${judgement.verdict} (${passed}/${judged})`,
    color: colors[judgement.verdict],
  };
}
