// `node tools/charts/versions-main.ts <commit>`: charts that changed since then and kept their version.

import path from 'node:path';
import { requireNode24 } from '@bigfleet/process/node-version';
import { staleVersions } from './versions.ts';

requireNode24();
const [commit, ...rest] = process.argv.slice(2);
if (commit === undefined || rest.length > 0) {
  process.stderr.write('usage: node tools/charts/versions-main.ts <commit>\n');
  process.exit(2);
}
const problems = staleVersions(path.join(import.meta.dirname, '../..'), commit);
for (const problem of problems) process.stdout.write(`FAIL ${problem}\n`);
process.stdout.write(`chart versions: ${problems.length} to raise\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
