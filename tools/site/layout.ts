// One page of the site around its text. Addresses are relative, so that the folder works from a disk,
// from a web server and below any path.

import path from 'node:path';
import { escape } from './highlight.ts';
import type { Heading, Rendered } from './markdown.ts';
import type { NavEntry, NavGroup } from './navigation.ts';
import type { SourcePage } from './source-pages.ts';

export interface PageParts {
  readonly page: SourcePage;
  readonly rendered: Rendered;
  readonly navigation: readonly NavGroup[];
  readonly hasPlayground: boolean;
}

/** Nothing but the site's own files: a page that would reach out is stopped by the browser. */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'";

export function layout({ page, rendered, navigation, hasPlayground }: PageParts): string {
  const home = relativeAddress(page.address, 'index.html');
  const asset = (name: string): string => relativeAddress(page.address, `assets/${name}`);
  const contents = contentsOf(rendered.headings);
  const title = rendered.title === '' ? page.file : rendered.title;
  const playground = hasPlayground
    ? `<a class="playground" href="${relativeAddress(page.address, 'playground/index.html')}">Playground</a>`
    : '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="color-scheme" content="light dark">
<title>${escape(title)}${page.address === 'index.html' ? '' : ' · BigFleet'}</title>
<link rel="icon" href="${asset('mark.svg')}">
<link rel="stylesheet" href="${asset('site.css')}">
<script src="${asset('site.js')}" defer></script>
</head>
<body data-base="${path.posix.dirname(home)}/">
<a class="skip" href="#text">Skip to the text</a>
<header class="top">
<a class="brand" href="${home}"><img src="${asset('mark.svg')}" alt="" width="22" height="22">BigFleet</a>
<div class="search" role="search">
<input id="search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" aria-controls="found" aria-expanded="false" role="combobox">
<kbd aria-hidden="true">/</kbd>
<ul id="found" role="listbox" aria-label="Results" hidden></ul>
</div>
${playground}
<button class="menu" type="button" aria-controls="nav" aria-expanded="false">Menu</button>
</header>
<div class="frame">
<nav id="nav" aria-label="Pages">
${navigation.map((group) => navGroup(group, page)).join('\n')}
</nav>
<main id="text">
${crumb(page, navigation)}
${contents === '' ? '' : `<details class="contents-small"><summary>On this page</summary>${contents}</details>`}
<article>
${rendered.html}</article>
<footer>Written in <code>${escape(page.file)}</code></footer>
</main>
<aside class="contents" aria-label="On this page">${contents === '' ? '' : `<p>On this page</p>${contents}`}</aside>
</div>
</body>
</html>
`;
}

export function relativeAddress(from: string, to: string): string {
  const relative = path.posix.relative(path.posix.dirname(from), to);
  return relative === '' ? path.posix.basename(to) : relative;
}

function navGroup({ name, entries }: NavGroup, page: SourcePage): string {
  const items = entries.map((entry) => navItem(entry, page)).join('');
  return `<section><h2>${escape(name)}</h2><ul>${items}</ul></section>`;
}

function navItem({ label, page: target, below }: NavEntry, page: SourcePage): string {
  const folder = path.posix.dirname(target.file);
  const isOpen = below.length > 0 && page.file.startsWith(`${folder}/`);
  const inner = isOpen ? `<ul>${below.map((entry) => navItem(entry, page)).join('')}</ul>` : '';
  const current = target.file === page.file ? ' aria-current="page"' : '';
  const address = relativeAddress(page.address, target.address);
  return `<li><a href="${address}"${current}>${escape(label)}</a>${inner}</li>`;
}

/** Where the page stands, in the words of the navigation. */
function crumb(page: SourcePage, navigation: readonly NavGroup[]): string {
  for (const { name, entries } of navigation) {
    for (const entry of entries) {
      if (entry.page.file === page.file) return `<p class="crumb">${escape(name)}</p>`;
      if (!entry.below.some(({ page: below }) => below.file === page.file)) continue;
      const address = relativeAddress(page.address, entry.page.address);
      return `<p class="crumb">${escape(name)} <span aria-hidden="true">›</span> <a href="${address}">${escape(entry.label)}</a></p>`;
    }
  }
  return '';
}

/** Headings of the second and third level; one heading needs no table. */
function contentsOf(headings: readonly Heading[]): string {
  const shown = headings.filter(({ level }) => level === 2 || level === 3);
  if (shown.length < 2) return '';
  const items = shown.map(
    ({ level, text, anchor }) =>
      `<li class="level-${level}"><a href="#${anchor}">${escape(text)}</a></li>`,
  );
  return `<ul>${items.join('')}</ul>`;
}
