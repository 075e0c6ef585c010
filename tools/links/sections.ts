// Every section sign in the tree names a file and a heading of docs/spec: `engine §5.4`. The next
// ones of the same enumeration inherit the file (`engine §5.4, §5.9 and §6`, over the line breaks
// of a comment too); inside a file of the specification, a sign alone means that file. Parts of
// providers.md are cited without the sign, as `providers A4`. A citation that leads nowhere lets
// code and law drift apart without anybody noticing.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { listIndependently } from '../walls/tree.ts';

export interface SectionReport {
  readonly citations: number;
  /** `file:line what`. */
  readonly problems: readonly string[];
}

/** Headings by the file's name without `.md`. */
type Specification = ReadonlyMap<string, ReadonlySet<string>>;

const SPEC_FILE = /^docs\/spec\/([\w-]+)\.md$/;
const HEADING = /^#{1,6}\s+(\d+(?:\.\d+)*|[A-E]\d+)\.?\s/gm;
const NUMBER = String.raw`\d+(?:\.\d+)*|[A-E]\d+`;
/** A sign with the number that it cites, and the end of a range (`kubernetes §5–6`). */
const CITATION = new RegExp(`\\u00a7(${NUMBER})?(?:–(${NUMBER}))?`, 'g');
const PART = /\bproviders\s+([A-E]\d+)((?:(?:,|–|\s+and)\s*[A-E]\d+)*)/gi;
const WORD_BEFORE = /([A-Za-z][A-Za-z-]*)(\.md)?[`)]*\s+$/;
/**
 * What may stand between two signs of one enumeration: punctuation, conjunctions, and what narrows
 * the first one down (`rule 2b`, `steps 2 and 4`, `(ii)`, `row 9`, `tier 2`).
 */
const LINK_WORDS =
  /^(?:[\s,;/–()-]|\b(?:and|or|to|with|last|steps?|rules?|rows?|tiers?|items?|threats?)\b|\b\d+[a-z]?\b|\b[ivx]+\b)*$/;

export function checkSections(root: string): SectionReport {
  const files = listIndependently(root);
  const specification = readSpecification(root, files);
  const problems: string[] = [];
  let citations = 0;
  for (const file of files) {
    const text = readFileSync(path.join(root, file), 'utf8');
    if (text.includes('\0')) continue;
    for (const { line, problem } of citationsOf(specification, file, text)) {
      citations++;
      if (problem !== undefined) problems.push(`${file}:${line} ${problem}`);
    }
  }
  return { citations, problems };
}

function readSpecification(root: string, files: readonly string[]): Specification {
  const specification = new Map<string, ReadonlySet<string>>();
  for (const file of files) {
    const name = SPEC_FILE.exec(file)?.[1];
    if (name === undefined || name === 'README') continue;
    const text = readFileSync(path.join(root, file), 'utf8');
    specification.set(name, new Set([...text.matchAll(HEADING)].map((match) => match[1] ?? '')));
  }
  return specification;
}

interface Citation {
  readonly line: number;
  /** Undefined when the citation resolves. */
  readonly problem: string | undefined;
}

function citationsOf(specification: Specification, file: string, text: string): Citation[] {
  const plain = joinCommentLines(text);
  const lineAt = lineCounter(text);
  return [
    ...signsOf(specification, file, plain),
    ...partsOf(specification.get('providers'), plain),
  ].map(({ at, problem }) => ({ line: lineAt(at), problem }));
}

interface Found {
  readonly at: number;
  readonly problem: string | undefined;
}

function signsOf(specification: Specification, file: string, plain: string): Found[] {
  const own = SPEC_FILE.exec(file)?.[1];
  const home = own !== undefined && specification.has(own) ? own : undefined;
  const found: Found[] = [];
  let chain: { readonly name: string; readonly end: number } | undefined;
  for (const match of plain.matchAll(CITATION)) {
    const at = match.index;
    const end = at + match[0].length;
    const before = plain.slice(Math.max(0, at - 80), at);
    const isLinked = chain !== undefined && LINK_WORDS.test(plain.slice(chain.end, at));
    const name = namedIn(specification, before) ?? (isLinked ? chain?.name : home);
    found.push({ at, problem: problemOf(specification, name, match) });
    chain = name === undefined ? undefined : { name, end };
  }
  return found;
}

/**
 * The file that stands right before a sign. A word that is only part of a file's name counts too,
 * and does not resolve: inside the specification, `contract` before a sign would otherwise
 * silently mean the file that it stands in.
 */
function namedIn(specification: Specification, before: string): string | undefined {
  const match = WORD_BEFORE.exec(before);
  const word = match?.[1]?.toLowerCase() ?? '';
  const isPart = [...specification.keys()].some((name) => name.split('-').includes(word));
  const isName = specification.has(word) || match?.[2] !== undefined || (isPart && word !== 'and');
  return isName ? word : undefined;
}

function problemOf(
  specification: Specification,
  name: string | undefined,
  [sign, first = '', last]: readonly (string | undefined)[],
): string | undefined {
  if (name === undefined) return `cites ${sign} without a file of docs/spec in front of it`;
  const headings = specification.get(name);
  if (headings === undefined) return `cites ${name} ${sign}, but there is no docs/spec/${name}.md`;
  const gone = [first, ...(last === undefined ? [] : [last])].filter((n) => !headings.has(n));
  if (gone.length === 0) return undefined;
  return `cites ${name} ${sign}, but docs/spec/${name}.md has no heading ${gone.join(', ')}`;
}

/** `providers A4`; without providers.md such words are nobody's citation. */
function partsOf(headings: ReadonlySet<string> | undefined, plain: string): Found[] {
  if (headings === undefined) return [];
  return [...plain.matchAll(PART)].map((match) => {
    const parts = [match[1] ?? '', ...(match[2] ?? '').matchAll(/[A-E]\d+/g)].map(String);
    const gone = parts.filter((part) => !headings.has(part));
    const problem =
      gone.length === 0
        ? undefined
        : `cites providers ${gone.join(', ')}, but docs/spec/providers.md has no such heading`;
    return { at: match.index, problem };
  });
}

/** The text with the marks of continued comment lines blanked; every character stays in its place. */
function joinCommentLines(text: string): string {
  return text.replace(/\n[ \t]*(?:\/\/+|\*(?!\/)|#+)?[ \t]*/g, (mark) => ' '.repeat(mark.length));
}

function lineCounter(text: string): (at: number) => number {
  const starts = [0, ...[...text.matchAll(/\n/g)].map((match) => match.index + 1)];
  return (at) => starts.findLastIndex((start) => start <= at) + 1;
}
