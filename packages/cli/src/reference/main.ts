// `node packages/cli/src/reference/main.ts [--check]`: writes the reference pages below docs/cli, or
// says which of them are not what would be written.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { referencePages } from './pages.ts';

const root = path.join(import.meta.dirname, '../../../..');
const isCheck = process.argv.includes('--check');
let staleCount = 0;
for (const [name, text] of referencePages()) {
  const file = path.join(root, name);
  const current = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (current === text) continue;
  staleCount += 1;
  if (isCheck) {
    process.stdout.write(`FAIL ${name}: run node packages/cli/src/reference/main.ts\n`);
    continue;
  }
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
process.stdout.write(`reference: ${staleCount} pages ${isCheck ? 'stale' : 'written'}\n`);
process.exitCode = isCheck && staleCount > 0 ? 1 : 0;
