// Checks the wire contract: `node tools/proto/check.ts [--root <folder>]`. Exit 0 when the .proto
// files are clean, compatible with the committed image, and everything generated from them is
// committed; exit 1 with each problem and what to do about it; exit 2 on a wrong argument.
// Changes nothing.

import { parseArgs } from 'node:util';
import {
  checkBreaking,
  checkFormat,
  checkGenerated,
  checkImage,
  checkLint,
  printProblems,
  repositoryRoot,
} from './checks.ts';

const checks = [checkLint, checkFormat, checkBreaking, checkImage, checkGenerated];

function rootArgument(): string {
  try {
    return parseArgs({ options: { root: { type: 'string' } } }).values.root ?? repositoryRoot;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(2);
  }
}

const root = rootArgument();
const problems = checks.flatMap((check) => check(root));
printProblems(problems);
if (problems.length > 0) process.exitCode = 1;
else console.log(`proto: ${checks.length} checks passed`);
