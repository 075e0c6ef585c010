// `node tools/walls/check.ts [root]`: the import walls of the repository, for `make check`.
// Prints what each wall saw and every violation with its place; exits 1 on any.

import path from 'node:path';
import { requireNode24 } from '@bigfleet/process/node-version';
import { formatResults, runRules } from './run.ts';
import { RULES } from './rules/index.ts';
import { listIndependently, readTree } from './tree.ts';

requireNode24();
const root = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '../..'));
const results = runRules(RULES, readTree(root), listIndependently(root));
process.stdout.write(formatResults(results));
process.exitCode = results.some((result) => result.violations.length > 0) ? 1 : 0;
