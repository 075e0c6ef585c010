// Finds the test files of the tree twice, by glob and by git, and refuses to go on when the two
// differ: a test file that is not found is a test that silently stops running.

import { globSync } from 'node:fs';
import path from 'node:path';
import { listIndependently } from '../walls/tree.ts';

export type Suffix = '.test.ts' | '.long.ts';

const SKIPPED: readonly string[] = [
  'node_modules',
  'dist',
  '.git',
  '.cache',
  'coverage',
  'results',
];

export function discover(root: string, suffix: Suffix): string[] {
  const found = globSync(`**/*${suffix}`, {
    cwd: root,
    exclude: (name) => SKIPPED.includes(path.basename(name)) || name === 'fixtures',
  });
  const files = found
    .map((file) => file.split(path.sep).join('/'))
    .filter(isTestFile)
    .sort();
  const listed = listIndependently(root).filter(
    (file) => file.endsWith(suffix) && isTestFile(file),
  );
  const difference = symmetricDifference(files, listed);
  if (difference.length > 0) {
    throw new Error(`the tree and git disagree on test files: ${difference.join(', ')}`);
  }
  return files;
}

function isTestFile(file: string): boolean {
  return !/(?:^|\/)fixtures\//.test(file);
}

function symmetricDifference(left: readonly string[], right: readonly string[]): string[] {
  const only = (some: readonly string[], others: readonly string[]): string[] => {
    const known = new Set(others);
    return some.filter((file) => !known.has(file));
  };
  return [...only(left, right), ...only(right, left)].sort();
}
