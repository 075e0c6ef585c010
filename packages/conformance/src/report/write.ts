// Writes the three report files. The folder is made; old reports in it are replaced.

import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { SuiteRun } from '../run/result.ts';
import type { Judgement } from '../verdict/judge.ts';
import { badgeOf } from './badge.ts';
import { jsonReport, renderJson } from './json.ts';
import { renderJunit } from './junit.ts';

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
