// `node tools/grafana/generate.ts [--check]`: the dashboards of deploy/grafana, from the sources beside
// this file.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { requireNode24 } from '@bigfleet/process/node-version';
import { renderDashboard } from './dashboard.ts';
import { COORDINATOR } from './dashboards/coordinator.ts';
import { FINOPS, PLANNING } from './dashboards/cost.ts';
import { OPERATOR } from './dashboards/operator.ts';
import { OVERVIEW } from './dashboards/overview.ts';
import { PROVIDER } from './dashboards/provider.ts';
import { SHARD } from './dashboards/shard.ts';

requireNode24();
const args = process.argv.slice(2);
if (args.some((argument) => argument !== '--check')) {
  process.stderr.write('usage: node tools/grafana/generate.ts [--check]\n');
  process.exit(2);
}

const FOLDER = path.join(import.meta.dirname, '../../deploy/grafana');
const wanted = new Map(
  [OVERVIEW, SHARD, COORDINATOR, OPERATOR, PROVIDER, FINOPS, PLANNING].map((dashboard) => [
    `${dashboard.name}.json`,
    `${JSON.stringify(renderDashboard(dashboard), undefined, 2)}\n`,
  ]),
);
const present = existsSync(FOLDER)
  ? readdirSync(FOLDER).filter((file) => file.endsWith('.json'))
  : [];
const strangers = present.filter((file) => !wanted.has(file));
const stale = [...wanted].filter(
  ([file, text]) =>
    !present.includes(file) || readFileSync(path.join(FOLDER, file), 'utf8') !== text,
);

if (args.length > 0) {
  for (const [file] of stale) process.stdout.write(`FAIL deploy/grafana/${file} is not current\n`);
  for (const file of strangers) process.stdout.write(`FAIL deploy/grafana/${file} has no source\n`);
  if (stale.length + strangers.length > 0) {
    process.stdout.write('run node tools/grafana/generate.ts\n');
    process.exitCode = 1;
  }
} else {
  mkdirSync(FOLDER, { recursive: true });
  for (const [file, text] of stale) writeFileSync(path.join(FOLDER, file), text);
  for (const file of strangers) rmSync(path.join(FOLDER, file));
}
process.stdout.write(`grafana: ${wanted.size} dashboards, ${stale.length} changed\n`);
