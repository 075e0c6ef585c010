// Markdown to HTML, with what a page needs beside its text: headings with anchors as code hosts make
// them (the link check knows the same), sections for the search, tables that scroll by themselves.
// Raw HTML is off: a page of ours is Markdown, and text in angle brackets stays text.

import MarkdownIt, { type Token } from 'markdown-it';
import { readPage } from '../links/page.ts';
import { highlight } from './highlight.ts';

export interface Heading {
  readonly level: number;
  readonly text: string;
  readonly anchor: string;
}

export interface Section {
  readonly heading: string;
  /** Empty for what stands above the first anchor of its own. */
  readonly anchor: string;
  readonly words: string;
}

export interface Rendered {
  readonly html: string;
  readonly title: string;
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
}

/** A parsed page, before its links are known to lead anywhere. */
export interface Parsed {
  readonly tokens: Token[];
  readonly headings: readonly Heading[];
  readonly title: string;
}

export type Resolve = (target: string) => string;

const markdown = createMarkdown();

export function parse(text: string): Parsed {
  const tokens = markdown.parse(withoutComments(text), {});
  const headings = headingsOf(tokens);
  return { tokens, headings, title: headings[0]?.text ?? '' };
}

/** `resolve`: the address behind a target; `cite`: the address of `engine §5.4`, or undefined. */
export function render(
  { tokens, headings, title }: Parsed,
  resolve: Resolve,
  cite: (file: string, section: string) => string | undefined,
): Rendered {
  for (const token of tokens) {
    if (token.children === null) continue;
    for (const child of token.children) relink(child, resolve);
    token.children = linkCitations(token.children, cite);
  }
  const html = markdown.renderer.render(tokens, markdown.options, {});
  return { html, title, headings, sections: sectionsOf(tokens, headings) };
}

/** Comments of generators are for those who edit the file. */
function withoutComments(text: string): string {
  let isCode = false;
  return text
    .split('\n')
    .filter((line) => {
      if (/^\s*(?:`{3,}|~{3,})/.test(line)) isCode = !isCode;
      return isCode || !/^<!--.*-->\s*$/.test(line);
    })
    .join('\n');
}

function headingsOf(tokens: readonly Token[]): readonly Heading[] {
  const taken = new Set<string>();
  return tokens.flatMap((token, at) => {
    if (token.type !== 'heading_open') return [];
    const inline = tokens[at + 1];
    const [slug = ''] = readPage(`# ${inline?.content ?? ''}`).anchors;
    let anchor = slug;
    for (let n = 1; taken.has(anchor); n++) anchor = `${slug}-${n}`;
    taken.add(anchor);
    token.attrSet('id', anchor);
    return [{ level: Number(token.tag.slice(1)), text: plainText(inline?.children ?? []), anchor }];
  });
}

function plainText(children: readonly Token[]): string {
  return children.map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('');
}

function relink(token: Token, resolve: Resolve): void {
  const name = token.type === 'image' ? 'src' : 'href';
  const target = token.type === 'link_open' || token.type === 'image' ? token.attrGet(name) : null;
  if (target !== null) token.attrSet(name, resolve(String(target)));
}

/** A file of the specification, the section sign, a number. */
const CITATION = /\b([a-z][a-z-]+) \u{a7}(\d+(?:\.\d+)*)/gu;

/** A cited section of the specification becomes a link, unless it stands in one already. */
function linkCitations(
  children: readonly Token[],
  cite: (file: string, section: string) => string | undefined,
): Token[] {
  let depth = 0;
  return children.flatMap((token) => {
    depth += token.type === 'link_open' ? 1 : token.type === 'link_close' ? -1 : 0;
    return token.type === 'text' && depth === 0 ? citedParts(token, cite) : [token];
  });
}

function citedParts(
  token: Token,
  cite: (file: string, section: string) => string | undefined,
): Token[] {
  const parts: Token[] = [];
  let from = 0;
  for (const match of token.content.matchAll(CITATION)) {
    const address = cite(match[1] ?? '', match[2] ?? '');
    if (address === undefined) continue;
    const open = new markdown.core.State('', markdown, {}).Token;
    const link = new open('link_open', 'a', 1);
    link.attrSet('href', address);
    link.attrSet('class', 'cited');
    parts.push(textToken(token, token.content.slice(from, match.index)), link);
    parts.push(textToken(token, match[0]), new open('link_close', 'a', -1));
    from = match.index + match[0].length;
  }
  return from === 0 ? [token] : [...parts, textToken(token, token.content.slice(from))];
}

function textToken(like: Token, content: string): Token {
  return Object.assign(Object.create(Object.getPrototypeOf(like) as object) as Token, like, {
    content,
  });
}

function sectionsOf(tokens: readonly Token[], headings: readonly Heading[]): readonly Section[] {
  const sections: { heading: string; anchor: string; words: string[] }[] = [];
  let at = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const heading = headings[at];
      at += 1;
      if (heading !== undefined && heading.level <= 4) {
        sections.push({ heading: heading.text, anchor: heading.anchor, words: [] });
      }
    } else if (token.type === 'fence') sections.at(-1)?.words.push(token.content);
    else if (token.type === 'inline' && tokens[index - 1]?.type !== 'heading_open') {
      sections.at(-1)?.words.push(plainText(token.children ?? []));
    }
  }
  return sections.map(({ heading, anchor, words }) => ({
    heading,
    anchor,
    words: words.join(' '),
  }));
}

function createMarkdown(): InstanceType<typeof MarkdownIt> {
  const created = new MarkdownIt({ html: false, linkify: false, typographer: false });
  const { rules } = created.renderer;
  rules['table_open'] = () => '<div class="table" tabindex="0"><table>\n';
  rules['table_close'] = () => '</table></div>\n';
  rules['heading_close'] = (tokens, index) => {
    const open = tokens[index - 2];
    const anchor = open?.attrGet('id') ?? '';
    const label = escape(plainText(tokens[index - 1]?.children ?? []));
    return `<a class="anchor" href="#${anchor}" aria-label="Link to: ${label}">#</a></${open?.tag ?? 'h2'}>\n`;
  };
  rules['code_inline'] = (tokens, index) => codeSpan(tokens[index]?.content ?? '');
  rules['fence'] = (tokens, index) =>
    fence(tokens[index]?.info ?? '', tokens[index]?.content ?? '');
  rules['paragraph_open'] = (tokens, index) => {
    if (tokens[index]?.hidden === true) return '';
    return /^\W*Future:/.test(tokens[index + 1]?.content ?? '') ? '<p class="future">' : '<p>';
  };
  return created;
}

/** A short name stays on one line: a browser would break a flag after its hyphens. */
const WHOLE = /^\S{1,28}$/;

/** A path or a long name in a narrow column breaks after its parts, and copies as it is. */
function codeSpan(text: string): string {
  if (WHOLE.test(text)) return `<code class="whole">${escape(text)}</code>`;
  const parts = text.split(/(?<=[^\s-][/._,=-])(?=[^\s/._,=-])/);
  return `<code>${parts.map(escape).join('<wbr>')}</code>`;
}

/** ```sh run: the language, and what a test does with the block, which readers need not see. */
function fence(info: string, content: string): string {
  const [language = '', kind = ''] = info.trim().split(/\s+/);
  const file = /^(?:file|excerpt)=(.+)$/.exec(kind)?.[1];
  const caption = file === undefined ? '' : `<figcaption>${escape(file)}</figcaption>`;
  const body = highlight(content, language);
  const name = language === '' ? 'text' : language;
  return `<figure class="code">${caption}<pre tabindex="0"><code class="language-${escape(name)}">${body}</code></pre></figure>\n`;
}

function escape(text: string): string {
  return markdown.utils.escapeHtml(text);
}
