// Every record that stands has a row in the decision map, and the map names only records that
// exist: a decision nobody can find in the code will be undone by accident. That the named files
// exist is the link check's business.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const INDEX = 'docs/adr/index.md';
const MAP = 'docs/internals/decision-map.md';

/** What is wrong with the map, as lines for the reader; empty when nothing is. */
export function checkDecisions(root: string): string[] {
  const missing = [INDEX, MAP].filter((file) => !existsSync(path.join(root, file)));
  if (missing.length > 0) return missing.map((file) => `${file} is missing`);
  const standing = recordsOf(read(root, INDEX), (row) => /\b(?:Accepted|Amended)\b/.test(row));
  const known = recordsOf(read(root, INDEX), () => true);
  const mapped = recordsOf(read(root, MAP), hasFilesAndTests);
  if (standing.length === 0) return [`${INDEX}: no standing record found`];
  return [
    ...standing
      .filter((record) => !mapped.includes(record))
      .map((record) => `${MAP}: record ${record} stands, but has no row with files and tests`),
    ...mapped
      .filter((record) => !known.includes(record))
      .map((record) => `${MAP}: record ${record} is not in ${INDEX}`),
  ];
}

function read(root: string, file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}

function recordsOf(page: string, isWanted: (row: string) => boolean): string[] {
  return page.split('\n').flatMap((row) => {
    const record = /^\| \[(\d{4})\]/.exec(row)?.[1];
    return record !== undefined && isWanted(row) ? [record] : [];
  });
}

function hasFilesAndTests(row: string): boolean {
  const [, , files = '', tests = ''] = row.split('|');
  return files.includes('`') && /`[^`]*(?:test|behaviours)[^`]*`/.test(tests);
}
