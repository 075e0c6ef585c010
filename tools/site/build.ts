// Builds the whole site in memory: pages, images, search index, and every link that leads nowhere.
// Nothing is written here, so that a broken site never replaces a good one.

import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { escape, highlight } from './highlight.ts';
import { layout, relativeAddress } from './layout.ts';
import { type Parsed, parse, render, type Rendered } from './markdown.ts';
import { navigationOf } from './navigation.ts';
import { addressOf, collectPages, isImage, linkedFile, type SourcePage } from './source-pages.ts';

export interface SitePage {
  readonly file: string;
  readonly address: string;
  readonly html: string;
}

export interface Site {
  readonly root: string;
  readonly pages: readonly SitePage[];
  /** File below the repository → address below the site. */
  readonly images: ReadonlyMap<string, string>;
  readonly searchIndex: string;
  /** Folder of the built playground, when it was built. */
  readonly playground: string | undefined;
  readonly linkCount: number;
  /** `file what`. */
  readonly problems: readonly string[];
}

const PLAYGROUND = 'packages/dashboard/dist/playground';
const SPECIFICATION = /^docs\/spec\/(?<name>[a-z-]+)\.md$/;

export function buildSite(root: string): Site {
  const pages = collectPages(root);
  const builder = new SiteBuilder(root, pages);
  return builder.build();
}

class SiteBuilder {
  readonly #root: string;
  readonly #pages: ReadonlyMap<string, SourcePage>;
  readonly #parsed: ReadonlyMap<string, Parsed>;
  readonly #images = new Map<string, string>();
  readonly #problems: string[] = [];
  #linkCount = 0;

  constructor(root: string, pages: ReadonlyMap<string, SourcePage>) {
    this.#root = root;
    this.#pages = pages;
    const written = [...pages.values()].filter(({ kind }) => kind === 'page');
    this.#parsed = new Map(written.map(({ file, text }) => [file, parse(text)]));
  }

  build(): Site {
    const navigation = navigationOf(this.#pages, this.#parsed);
    const playground = path.join(this.#root, PLAYGROUND);
    const hasPlayground = existsSync(path.join(playground, 'index.html'));
    const entries: SearchEntry[] = [];
    const pages = [...this.#pages.values()].map((page): SitePage => {
      const rendered = this.#render(page);
      entries.push(...searchEntries(page, rendered));
      const html = layout({ page, rendered, navigation, hasPlayground });
      return { file: page.file, address: page.address, html };
    });
    return {
      root: this.#root,
      pages,
      images: this.#images,
      searchIndex: searchIndex(entries),
      playground: hasPlayground ? playground : undefined,
      linkCount: this.#linkCount,
      problems: this.#problems,
    };
  }

  #render(page: SourcePage): Rendered {
    const parsed = this.#parsed.get(page.file);
    if (parsed === undefined) return sourcePage(page);
    const cite = (name: string, section: string): string | undefined =>
      this.#citedAddress(page, name, section);
    return render(parsed, (target) => this.#resolve(page, target), cite);
  }

  #resolve(page: SourcePage, target: string): string {
    const file = linkedFile(page.file, target);
    if (file === undefined) return target;
    this.#linkCount += 1;
    const fragment = /#(.*)$/.exec(decodeURI(target))?.[1] ?? '';
    if (isImage(file)) return this.#image(page, file);
    const place = this.#pages.get(file) ?? this.#indexOf(file);
    if (place === undefined) return this.#broken(page, target, `there is no page of ${file}`);
    const isKnown =
      fragment === '' ||
      place.kind === 'source' ||
      this.#parsed.get(place.file)?.headings.some(({ anchor }) => anchor === fragment) === true;
    if (!isKnown) return this.#broken(page, target, `${place.file} has no heading #${fragment}`);
    const hash = fragment === '' || place.kind === 'source' ? '' : `#${fragment}`;
    return `${relativeAddress(page.address, place.address)}${hash}`;
  }

  /** A link to a folder leads to its index. */
  #indexOf(folder: string): SourcePage | undefined {
    return this.#pages.get(`${folder}/index.md`) ?? this.#pages.get(`${folder}/README.md`);
  }

  #image(page: SourcePage, file: string): string {
    const absolute = path.join(this.#root, file);
    if (!existsSync(absolute) || !statSync(absolute).isFile()) {
      return this.#broken(page, file, 'there is no such image');
    }
    const address = addressOf(file).replace(/\.html$/, '');
    this.#images.set(file, address);
    return relativeAddress(page.address, address);
  }

  #broken(page: SourcePage, target: string, why: string): string {
    this.#problems.push(`${page.file} links to ${target}: ${why}`);
    return target;
  }

  /** `engine §5.4` → the heading of docs/spec/engine.md that begins with 5.4. */
  #citedAddress(page: SourcePage, name: string, section: string): string | undefined {
    const file = `docs/spec/${name}.md`;
    const place = this.#pages.get(file);
    if (place === undefined || !SPECIFICATION.test(file)) return undefined;
    const starts = new RegExp(`^${section.replaceAll('.', '\\.')}(?:\\.?\\s|$)`);
    const heading = this.#parsed.get(file)?.headings.find(({ text }) => starts.test(text));
    if (heading === undefined) return undefined;
    return `${relativeAddress(page.address, place.address)}#${heading.anchor}`;
  }
}

function sourcePage({ file, text }: SourcePage): Rendered {
  const language = path.posix.extname(file).slice(1);
  const html = `<h1>${escape(file)}</h1>\n<figure class="code"><pre tabindex="0"><code class="language-${escape(language)}">${highlight(text, language)}</code></pre></figure>\n`;
  return { html, title: file, headings: [], sections: [] };
}

type SearchEntry = readonly [address: string, title: string, heading: string, words: string];

function searchEntries({ address }: SourcePage, { title, sections }: Rendered): SearchEntry[] {
  return sections.map(({ heading, anchor, words }) => [
    `${address}#${anchor}`,
    title,
    heading,
    distinctWords(words),
  ]);
}

const WORD = /[\p{L}\p{N}_]{3,}(?:[.-][\p{L}\p{N}_]+)*/gu;

/** Each word of a section once: the index finds sections, the page shows the text. */
function distinctWords(text: string): string {
  return [...new Set(text.toLowerCase().match(WORD) ?? [])].join(' ');
}

/** A script and not JSON: a page opened from a disk may load scripts beside it, and nothing else. */
function searchIndex(entries: readonly SearchEntry[]): string {
  return `globalThis.bigfleetSearchIndex = ${JSON.stringify(entries)};\n`;
}
