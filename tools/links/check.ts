// Every relative link of README, CONTRIBUTING and docs pages leads to a file and, with a
// fragment, to a heading; every file of our tree that a page names exists. A page that sends
// its reader nowhere is worse than no page.

import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { listIndependently } from '../walls/tree.ts';
import { type Page, readPage } from './page.ts';

export interface LinkReport {
  readonly pages: number;
  readonly links: number;
  readonly paths: number;
  /** `file:line what`. */
  readonly problems: readonly string[];
}

/**
 * Core stands without providers/ (decision 22): where the folder is not there, nothing is said about
 * names below it.
 */
const OPTIONAL = /^providers\//;

/** The specification names files that are still to be built; its links are checked all the same. */
const SPECIFICATION = /^docs\/spec\//;

/** Written by commands, not committed: a page may name them on a fresh clone. */
const GENERATED = /(?:^|\/)(?:dist|node_modules|\.cache|coverage)(?:\/|$)|^bench\/results(?:\/|$)/;

function isPage(file: string): boolean {
  const name = path.posix.basename(file);
  if (!name.endsWith('.md') || /(?:^|\/)fixtures\//.test(file)) return false;
  return /^(?:README|CONTRIBUTING)/.test(name) || /(?:^|\/)docs\//.test(file);
}

export function checkLinks(root: string): LinkReport {
  const files = listIndependently(root).filter(isPage);
  const pages = new Map(files.map((file) => [file, load(root, file)]));
  const problems: string[] = [];
  let links = 0;
  let paths = 0;
  for (const [file, page] of pages) {
    for (const { target, line } of page.links) {
      if (isOutside(target)) continue;
      links++;
      const problem = linkProblem({ root, file, target, page });
      if (problem !== undefined) problems.push(`${file}:${line} ${problem}`);
    }
    if (SPECIFICATION.test(file)) continue;
    for (const { target, line } of page.paths) {
      if (GENERATED.test(target) || isAbsentPart(root, target)) continue;
      paths++;
      if (existsSync(path.join(root, target)) || existsBeside(root, file, target)) continue;
      problems.push(`${file}:${line} names ${target}, which does not exist`);
    }
  }
  if (files.length === 0) problems.push('no page found: README.md and docs/ should be there');
  return { pages: files.length, links, paths, problems };
}

function load(root: string, file: string): Page {
  return readPage(readFileSync(path.join(root, file), 'utf8'));
}

function isOutside(target: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(target);
}

function isAbsentPart(root: string, target: string): boolean {
  return OPTIONAL.test(`${target}/`) && !existsSync(path.join(root, 'providers'));
}

/** A provider's own page may name files of its own workspace. */
function existsBeside(root: string, file: string, target: string): boolean {
  const workspace = /^(?:packages|providers)\/[^/]+/.exec(file)?.[0];
  return workspace !== undefined && existsSync(path.join(root, workspace, target));
}

function linkProblem(link: {
  readonly root: string;
  readonly file: string;
  readonly target: string;
  readonly page: Page;
}): string | undefined {
  const { root, file, target, page } = link;
  const [rawPath = '', fragment] = decode(target).split('#', 2);
  const base = rawPath.startsWith('/') ? '' : path.posix.dirname(file);
  const linked = rawPath === '' ? file : path.posix.join(base, rawPath);
  if (linked.startsWith('..')) return `links to ${target}, outside the repository`;
  if (isAbsentPart(root, linked)) return undefined;
  const absolute = path.join(root, linked);
  if (!existsSync(absolute)) return `links to ${target}, but there is no ${linked}`;
  if (fragment === undefined || fragment === '' || /^L\d+/.test(fragment)) return undefined;
  if (!linked.endsWith('.md') || statSync(absolute).isDirectory()) return undefined;
  const anchors = linked === file ? page.anchors : load(root, linked).anchors;
  return anchors.has(fragment) ? undefined : `links to ${target}, but no heading is #${fragment}`;
}

function decode(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    // A bare percent sign: take it literally; the file check then decides.
    return target;
  }
}
