// The table of a chart's values, from its values.yaml: one row per value that has a comment above it. A
// value without a comment, its own or that of a mapping around it, is an error: nobody could know of it.

import { isMapping, type Mapping, readMapping } from './charts.ts';

export interface ValueRow {
  /** `coordinator.storage.size`. */
  readonly path: string;
  readonly fallback: unknown;
  readonly meaning: string;
}

const BEGIN = '<!-- values: written by tools/charts/main.ts from values.yaml -->';
const END = '<!-- /values -->';
const KEY_LINE = /^( *)([\w-]+):(?:\s|$)/;
const COMMENT_LINE = /^ *# ?(.*)$/;

export function valueRows(text: string, file: string): ValueRow[] {
  const values = readMapping(text, file);
  const rows = documentedPaths(text).map(({ path, meaning }) => ({
    path: path.join('.'),
    fallback: path.reduce<unknown>((at, key) => (isMapping(at) ? at[key] : undefined), values),
    meaning,
  }));
  const known = new Set(rows.map((row) => row.path));
  const silent = leafPaths(values).filter((leaf) => !isDocumented(leaf, known));
  if (silent.length > 0) throw new Error(`${file}: no comment above ${silent.join(', ')}`);
  return rows;
}

export function renderTable(rows: readonly ValueRow[]): string {
  const lines = rows.map(({ path, fallback, meaning }) => {
    return `| \`${path}\` | \`${JSON.stringify(fallback)}\` | ${meaning.replaceAll('|', '\\|')} |`;
  });
  return [BEGIN, '| Value | Default | Meaning |', '|---|---|---|', ...lines, END].join('\n');
}

/** Undefined when the page has no place for the table. */
export function replaceTable(page: string, table: string): string | undefined {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) return undefined;
  return page.slice(0, begin) + table + page.slice(end + END.length);
}

/** Every value that is no mapping with keys of its own. */
function leafPaths(values: Mapping, above = ''): string[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const path = above === '' ? key : `${above}.${key}`;
    const isBranch = isMapping(value) && Object.keys(value).length > 0;
    return isBranch ? leafPaths(value, path) : [path];
  });
}

function isDocumented(leaf: string, known: ReadonlySet<string>): boolean {
  const keys = leaf.split('.');
  return keys.some((_, at) => known.has(keys.slice(0, at + 1).join('.')));
}

interface Documented {
  readonly path: readonly string[];
  readonly meaning: string;
}

/** Values files are block mappings: a key's depth is its indentation. */
function documentedPaths(text: string): Documented[] {
  const documented: Documented[] = [];
  const stack: { readonly indent: number; readonly key: string }[] = [];
  let comment: string[] = [];
  for (const line of text.split('\n')) {
    const said = COMMENT_LINE.exec(line)?.[1];
    if (said !== undefined) {
      comment.push(said);
      continue;
    }
    const [, spaces, key] = KEY_LINE.exec(line) ?? [];
    if (spaces !== undefined && key !== undefined) {
      while ((stack.at(-1)?.indent ?? -1) >= spaces.length) stack.pop();
      stack.push({ indent: spaces.length, key });
      const path = stack.map((each) => each.key);
      if (comment.length > 0) documented.push({ path, meaning: comment.join(' ') });
    }
    comment = [];
  }
  return documented;
}
