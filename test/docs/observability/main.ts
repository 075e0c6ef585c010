// `node test/docs/observability/main.ts [--check]`: writes the page of series, or says that it is not
// what would be written.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { COMMAND, observabilityPage, PAGE } from './page.ts';
import { definedSeries } from './processes.ts';

const file = path.join(import.meta.dirname, '../../..', PAGE);
const processes = await definedSeries();
const text = observabilityPage(processes);
const count = processes.reduce((sum, { series }) => sum + series.length, 0);
const isCheck = process.argv.includes('--check');
const isStale = isCheck && readFileSync(file, 'utf8') !== text;
if (isStale) process.stdout.write(`FAIL ${PAGE}: run ${COMMAND}\n`);
if (!isCheck) writeFileSync(file, text);
process.stdout.write(`observability: ${count} series of ${processes.length} processes\n`);
// Threads of the stopped shard may take their time; nothing is left to do.
process.exit(isStale ? 1 : 0);
