// Which files become pages, and at which address. Everything below docs/ does, and what those pages
// link to: READMEs beside the parts they describe, and single source files.

import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { readPage } from '../links/page.ts';
import { listIndependently } from '../walls/tree.ts';

export interface SourcePage {
  /** Below the repository. */
  readonly file: string;
  /** Below the site. */
  readonly address: string;
  readonly kind: 'page' | 'source';
  readonly text: string;
}

const HOME = 'docs/index.md';
/** Larger files are not read on a page of documentation. */
const SOURCE_BYTES_MAX = 256 * 1024;

/** Pages by file; the landing page first. Where the start is missing, there is no site. */
export function collectPages(root: string): ReadonlyMap<string, SourcePage> {
  const files = listIndependently(root).filter((file) => /^docs\/.*\.md$/.test(file));
  if (!files.includes(HOME)) throw new Error(`${HOME} is missing: a site starts there`);
  const pages = new Map<string, SourcePage>();
  const waiting = [HOME, 'README.md', 'CONTRIBUTING.md', ...files.toSorted()];
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    if (pages.has(file) || !isReadable(root, file)) continue;
    const text = readFileSync(path.join(root, file), 'utf8');
    const kind = file.endsWith('.md') ? 'page' : 'source';
    pages.set(file, { file, address: addressOf(file), kind, text });
    if (kind === 'page') waiting.push(...linkedFiles(file, text));
  }
  return pages;
}

/** docs/networking.md → networking.html; deploy/README.md → repository/deploy/README.html. */
export function addressOf(file: string): string {
  const place = file.startsWith('docs/') ? file.slice('docs/'.length) : `repository/${file}`;
  return file.endsWith('.md') ? place.replace(/\.md$/, '.html') : `${place}.html`;
}

export function isImage(file: string): boolean {
  return /\.(?:svg|png)$/.test(file);
}

/** The file that a relative link of a page names; undefined for links that leave the tree. */
export function linkedFile(from: string, target: string): string | undefined {
  if (/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(target)) return undefined;
  const [raw = ''] = decodeURI(target).split('#', 1);
  if (raw === '') return from;
  const base = raw.startsWith('/') ? '' : path.posix.dirname(from);
  return path.posix.join(base, raw).replace(/\/$/, '');
}

function linkedFiles(file: string, text: string): string[] {
  return readPage(text).links.flatMap(({ target }) => {
    const linked = linkedFile(file, target);
    return linked === undefined || isImage(linked) ? [] : [linked];
  });
}

function isReadable(root: string, file: string): boolean {
  const absolute = path.join(root, file);
  if (file.startsWith('..') || !existsSync(absolute)) return false;
  const { size } = statSync(absolute);
  return statSync(absolute).isFile() && size <= SOURCE_BYTES_MAX;
}
