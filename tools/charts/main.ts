// `node tools/charts/main.ts [--check]`: writes what the charts hold twice, or says what differs.

import path from 'node:path';
import { requireNode24 } from '@bigfleet/process/node-version';
import { runCharts } from './run.ts';

requireNode24();
const args = process.argv.slice(2);
if (args.some((argument) => argument !== '--check')) {
  process.stderr.write('usage: node tools/charts/main.ts [--check]\n');
  process.exit(2);
}
const root = path.join(import.meta.dirname, '../..');
const { chartCount, problems } = runCharts(root, args.length > 0 ? 'check' : 'write');
for (const problem of problems) process.stdout.write(`FAIL ${problem}\n`);
process.stdout.write(`charts: ${chartCount}, ${problems.length} problems\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
