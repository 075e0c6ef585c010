// Finds the test files of the tree twice, by glob and by git, and refuses to go on when the two
// differ: a test file that is not found is a test that silently stops running.

import { globSync } from 'node:fs';
import path from 'node:path';
import { listIndependently, SKIPPED_FOLDERS } from '../walls/tree.ts';

export type Suffix = '.test.ts' | '.long.ts' | '.e2e.ts';

export function discover(root: string, suffix: Suffix): string[] {
  const found = globSync(`**/*${suffix}`, {
    cwd: root,
    exclude: (name) => SKIPPED_FOLDERS.has(path.basename(name)) || name === 'fixtures',
  });
  const files = found
    .map((file) => file.split(path.sep).join('/'))
    .filter(isTestFile)
    .sort();
  const listed = listIndependently(root).filter(
    (file) => file.endsWith(suffix) && isTestFile(file),
  );
  const all = [...new Set([...files, ...listed])].sort();
  const difference = all.filter((file) => !files.includes(file) || !listed.includes(file));
  if (difference.length > 0) {
    throw new Error(`the tree and git disagree on test files: ${difference.join(', ')}`);
  }
  return files;
}

function isTestFile(file: string): boolean {
  return !/(?:^|\/)fixtures\//.test(file);
}
