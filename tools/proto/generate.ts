// Regenerates what is derived from the .proto files: `node tools/proto/generate.ts`
// (`make proto`). Refuses to replace the committed image while the change is breaking, because
// afterwards nobody could tell; `--accept-breaking` is for additions of ours that no released
// version ever sent. The descriptor of the established files (api/descriptor/established.txt) and
// the tables are never regenerated: they are what the rest is compared with.

import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  type Problem,
  checkBreaking,
  checkLint,
  imageArguments,
  imagePath,
  printProblems,
  repositoryRoot,
  runBuf,
} from './checks.ts';

const { values } = parseArgs({
  options: { root: { type: 'string' }, 'accept-breaking': { type: 'boolean' } },
});
const root = values.root ?? repositoryRoot;

function obstacles(): Problem[] {
  const lint = checkLint(root);
  if (values['accept-breaking'] === true || !existsSync(join(root, imagePath))) return lint;
  return [...lint, ...checkBreaking(root)];
}

const problems = obstacles();
printProblems(problems);
if (problems.length > 0) process.exit(1);

mkdirSync(dirname(join(root, imagePath)), { recursive: true });
for (const args of [['generate'], imageArguments(imagePath)]) {
  const { ok, output } = runBuf(root, args);
  if (!ok) {
    console.error(`buf ${args[0]}: ${output}`);
    process.exit(1);
  }
}
console.log('proto: generated code and descriptor image are up to date');
