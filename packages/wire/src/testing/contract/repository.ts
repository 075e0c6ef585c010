// Where the contract tests find what they compare: the repository's api folder and the
// specification.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseVectors, type Vector } from './vector-syntax.ts';

export const repositoryRoot: string = fileURLToPath(new URL('../../../../../', import.meta.url));
export const protoRoot: string = join(repositoryRoot, 'api', 'proto');
export const additionsSpecPath: string = join(repositoryRoot, 'docs', 'spec', 'wire-additions.md');

export function readApiFile(...path: readonly string[]): string {
  return readFileSync(join(repositoryRoot, 'api', ...path), 'utf8');
}

/** Non-empty lines without comments. */
export function tableLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

export function goldenVectors(): Vector[] {
  const files = readdirSync(join(repositoryRoot, 'api', 'golden'))
    .filter((name) => name.endsWith('.txt') && name !== 'services.txt')
    .sort();
  return files.flatMap((name) => parseVectors(name, readApiFile('golden', name)));
}
