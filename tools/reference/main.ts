// `node tools/reference/main.ts [--check]`: writes the API reference, the catalogue of errors and the
// tables of the scaling guide, or says which of them are not what would be written.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { requireNode24 } from '@bigfleet/process/node-version';
import { referencePages } from './pages.ts';

requireNode24();
const root = path.join(import.meta.dirname, '../..');
const isCheck = process.argv.includes('--check');
let staleCount = 0;
const pages = referencePages(root);
for (const [name, text] of pages) {
  const file = path.join(root, name);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  staleCount += 1;
  if (isCheck) process.stdout.write(`FAIL ${name}: run node tools/reference/main.ts\n`);
  else writeFileSync(file, text);
}
process.stdout.write(
  `reference: ${pages.size} pages, ${staleCount} ${isCheck ? 'stale' : 'written'}\n`,
);
process.exitCode = isCheck && staleCount > 0 ? 1 : 0;
