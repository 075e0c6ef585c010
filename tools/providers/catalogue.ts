// `node tools/providers/catalogue.ts [--check]`: the catalogue of providers in docs/providers.md,
// generated from what each provider declares in its own package.json.

import path from 'node:path';
import { requireNode24 } from '@bigfleet/process/node-version';
import { runCatalogue } from './run.ts';

requireNode24();
const args = process.argv.slice(2);
if (args.some((argument) => argument !== '--check')) {
  process.stderr.write('usage: node tools/providers/catalogue.ts [--check]\n');
  process.exit(2);
}
const root = path.join(import.meta.dirname, '../..');
const { providerCount, problems } = runCatalogue(root, args.length > 0 ? 'check' : 'write');
for (const problem of problems) process.stdout.write(`FAIL ${problem}\n`);
process.stdout.write(`providers: ${providerCount} in the catalogue, ${problems.length} problems\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
