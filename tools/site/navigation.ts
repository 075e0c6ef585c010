// The navigation is docs/index.md itself: each heading with a table or list of links is a group. Pages
// of a folder with an index of its own stand below that index, while one of them is open.

import path from 'node:path';
import type { Parsed } from './markdown.ts';
import { linkedFile, type SourcePage } from './source-pages.ts';

export interface NavEntry {
  readonly label: string;
  readonly page: SourcePage;
  /** Pages of the folder whose index this entry is. */
  readonly below: readonly NavEntry[];
}

export interface NavGroup {
  readonly name: string;
  readonly entries: readonly NavEntry[];
}

const HOME = 'docs/index.md';
const FIRST_GROUP = 'Documentation';

export function navigationOf(
  pages: ReadonlyMap<string, SourcePage>,
  parsed: ReadonlyMap<string, Parsed>,
): readonly NavGroup[] {
  return groupsOf(HOME, pages, parsed).map(({ name, entries }) => ({
    name: name === '' ? FIRST_GROUP : name,
    entries: entries.map((entry) => ({ ...entry, below: pagesBelow(entry.page, pages, parsed) })),
  }));
}

function pagesBelow(
  index: SourcePage,
  pages: ReadonlyMap<string, SourcePage>,
  parsed: ReadonlyMap<string, Parsed>,
): readonly NavEntry[] {
  if (!/^docs\/.+\/(?:index|README)\.md$/.test(index.file)) return [];
  const folder = path.posix.dirname(index.file);
  const listed = groupsOf(index.file, pages, parsed).flatMap(({ entries }) => entries);
  const own = listed.filter(({ page }) => path.posix.dirname(page.file) === folder);
  const named = own.filter(({ page }, at) => {
    return page !== index && own.findIndex((each) => each.page === page) === at;
  });
  return named.map((entry) => ({
    ...entry,
    label: parsed.get(entry.page.file)?.title ?? entry.label,
  }));
}

interface ListedGroup {
  readonly name: string;
  readonly entries: NavEntry[];
}

/** Links that stand in tables and lists; those in running text explain something. */
function groupsOf(
  file: string,
  pages: ReadonlyMap<string, SourcePage>,
  parsed: ReadonlyMap<string, Parsed>,
): readonly ListedGroup[] {
  const groups: ListedGroup[] = [{ name: '', entries: [] }];
  let depth = 0;
  const tokens = parsed.get(file)?.tokens ?? [];
  for (const [at, token] of tokens.entries()) {
    if (/^(?:table|bullet_list|ordered_list)_/.test(token.type)) depth += token.nesting;
    if (token.type === 'heading_open' && token.tag === 'h2') {
      groups.push({ name: tokens[at + 1]?.content ?? '', entries: [] });
    }
    if (token.type !== 'inline' || depth === 0) continue;
    for (const [link, child] of (token.children ?? []).entries()) {
      const target = child.type === 'link_open' ? child.attrGet('href') : null;
      const page = target === null ? undefined : pages.get(linkedFile(file, String(target)) ?? '');
      if (page === undefined) continue;
      const label = token.children?.[link + 1]?.content ?? page.file;
      groups.at(-1)?.entries.push({ label: capitalised(label), page, below: [] });
    }
  }
  return groups.filter(({ entries }) => entries.length > 0);
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
