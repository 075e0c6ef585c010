// What the charts hold twice, written from its one source or checked against it: the table of values in each
// chart's README, and the names that follow from a provider's folder. CRDs are no copy: the operator's chart has a
// link to api/crd, which helm follows.

import { existsSync, globSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Chart, expectedName, listCharts } from './charts.ts';
import { renderTable, replaceTable, valueRows } from './values-table.ts';

export type Mode = 'write' | 'check';

export interface ChartsReport {
  readonly chartCount: number;
  readonly problems: readonly string[];
}

const TEMPLATE_CHART = 'bigfleet-provider-template';
const COMMAND = 'node tools/charts/main.ts';

export function runCharts(root: string, mode: Mode): ChartsReport {
  const problems = listCharts(root).flatMap((chart) => nameProblems(root, chart, mode));
  const charts = listCharts(root);
  for (const chart of charts) problems.push(...tableProblems(root, chart, mode));
  return { chartCount: charts.length, problems };
}

/** A copied template still has the template's chart, under the template's names. */
function nameProblems(root: string, { folder, name }: Chart, mode: Mode): string[] {
  const expected = expectedName(folder);
  if (name === expected && path.posix.basename(folder) === expected) return [];
  if (mode === 'check' || name !== TEMPLATE_CHART) {
    return [`${folder}: the chart is named ${name}, and should be ${expected}: run ${COMMAND}`];
  }
  const to = path.join(root, path.posix.dirname(folder), expected);
  renameSync(path.join(root, folder), to);
  for (const file of globSync('**/*.{yaml,json,md,tpl,txt}', { cwd: to })) {
    const text = readFileSync(path.join(to, file), 'utf8');
    writeFileSync(path.join(to, file), renamed(text, expected));
  }
  return [];
}

function renamed(text: string, chart: string): string {
  const name = chart.replace('bigfleet-provider-', '');
  const camel = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return text
    .replaceAll(TEMPLATE_CHART, chart)
    .replaceAll('templateBackend', `${camel}Backend`)
    .replaceAll('--template-backend', `--${name}-backend`)
    .replaceAll('"template"', `"${name}"`)
    .replaceAll('/bigfleet-template/', `/bigfleet-${name}/`)
    .replaceAll('providers/_template', `providers/${name}`);
}

function tableProblems(root: string, { folder }: Chart, mode: Mode): string[] {
  const values = path.join(root, folder, 'values.yaml');
  const readme = path.join(root, folder, 'README.md');
  let table: string;
  try {
    table = renderTable(valueRows(readFileSync(values, 'utf8'), `${folder}/values.yaml`));
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
  const page = existsSync(readme) ? readFileSync(readme, 'utf8') : '';
  const updated = replaceTable(page, table);
  if (updated === undefined) {
    return [`${folder}/README.md: the two comments around the table of values are missing`];
  }
  if (updated === page) return [];
  if (mode === 'check') return [`${folder}/README.md: differs from values.yaml: run ${COMMAND}`];
  writeFileSync(readme, updated);
  return [];
}
