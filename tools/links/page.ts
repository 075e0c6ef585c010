// Reads one Markdown page: its links, its headings as anchors, and the files of our tree that
// it names. Links inside code are no links; file names inside code are names all the same.

export interface Mention {
  readonly target: string;
  readonly line: number;
}

export interface Page {
  /** Targets of links and images, and of reference definitions. */
  readonly links: readonly Mention[];
  readonly anchors: ReadonlySet<string>;
  /**
   * Paths below a top folder of our tree, outside paragraphs marked `Future:`, and without those of
   * a workspace that the page itself builds (blocks that say `file=`, run by test/docs).
   */
  readonly paths: readonly Mention[];
}

const TOP_FOLDERS = 'packages|providers|tools|test|bench|demo|api|deploy|docs|\\.ci';
const PATH = new RegExp(
  `(?<![\\w./@:-])(?:\\./)?((?:${TOP_FOLDERS})/[\\w./@-]*)([*<{…$\\[])?`,
  'g',
);
const INLINE_LINK = /!?\[(?:[^\]\\]|\\.)*\]\(\s*<?([^)\s>]+)>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/g;
const DEFINITION = /^\s{0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s+["'(].*)?$/;
const HTML_LINK = /<(?:a|img)\b[^>]*?\b(?:href|src)="([^"]+)"/g;

export function readPage(text: string): Page {
  const links: Mention[] = [];
  const paths: Mention[] = [];
  const anchors = new Anchors();
  const built = builtWorkspaces(text);
  let fence: string | undefined;
  let future = false;
  for (const [i, raw] of text.split('\n').entries()) {
    const line = i + 1;
    const marker = /^\s*(`{3,}|~{3,})/.exec(raw)?.[1];
    if (marker !== undefined) {
      if (fence === undefined) fence = marker;
      else if (marker.startsWith(fence)) fence = undefined;
      continue;
    }
    if (fence === undefined) {
      if (raw.trim() === '') future = false;
      else if (/^\W*Future:/.test(raw)) future = true;
      anchors.addHeading(raw);
      links.push(...linksOf(raw.replace(/(`+)[^`]+?\1/g, ''), line));
    }
    // A link's target is checked as a link, relative to the page.
    if (!future) paths.push(...pathsOf(raw.replace(/\]\([^)]*\)/g, ']'), line));
  }
  const isBuilt = ({ target }: Mention): boolean =>
    built.some((folder) => `${target}/`.startsWith(folder));
  return { links, anchors: anchors.all, paths: paths.filter((path) => !isBuilt(path)) };
}

/** `providers/acme/` for a block that starts with ```ts file=providers/acme/src/x.ts. */
function builtWorkspaces(text: string): string[] {
  const files = text.matchAll(/^`{3,}\w+ file=((?:packages|providers)\/[^/\s]+\/)/gm);
  return [...new Set([...files].map(([, folder]) => folder ?? ''))];
}

function linksOf(text: string, line: number): Mention[] {
  const targets = [
    ...[...text.matchAll(INLINE_LINK)].map((match) => match[1]),
    ...[...text.matchAll(HTML_LINK)].map((match) => match[1]),
    DEFINITION.exec(text)?.[1],
  ];
  return targets.flatMap((target) => (target === undefined ? [] : [{ target, line }]));
}

/** A path with a placeholder (`providers/<name>`, `docs/*.md`) names no one file. */
function pathsOf(text: string, line: number): Mention[] {
  return [...text.matchAll(PATH)].flatMap((match) => {
    const target = (match[1] ?? '').replace(/[.:,-]+$/, '');
    return match[2] === undefined && target !== '' ? [{ target, line }] : [];
  });
}

/** Heading anchors as code hosts make them: lower case, no punctuation, dashes for spaces. */
class Anchors {
  readonly all = new Set<string>();

  addHeading(line: string): void {
    for (const [, id] of line.matchAll(/<a\s+(?:id|name)="([^"]+)"/g)) {
      if (id !== undefined) this.all.add(id);
    }
    const heading = /^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$/.exec(line)?.[1];
    if (heading === undefined) return;
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
    const slug = plain
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-');
    let unique = slug;
    for (let n = 1; this.all.has(unique); n++) unique = `${slug}-${n}`;
    this.all.add(unique);
  }
}
