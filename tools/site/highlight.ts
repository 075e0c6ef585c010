// Colours for code, made when the site is built: comments, texts, numbers and the words of a language.
// One pass of one expression per language; what it does not know stays as it is.

const STRING = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`;
const NUMBER = String.raw`\b\d[\d_.]*\b`;
const TS_WORDS =
  'abstract as async await case catch class const continue default delete do else export extends false ' +
  'finally for from function if implements import in instanceof interface let new null of override private ' +
  'readonly return satisfies static super switch this throw true try type typeof undefined using void while yield';
const SH_WORDS =
  'case do done elif else esac exit export fi for function if in local return set then until while';
const PROMQL_WORDS =
  'and avg by count group_left group_right histogram_quantile ignoring increase irate max max_over_time min offset ' +
  'on or quantile quantile_over_time rate sum topk unless without';

interface Language {
  readonly comment: string;
  readonly words: string;
  /** Something else that stands out: flags, keys, functions. */
  readonly name?: string;
}

const HASH = String.raw`(?<![^\s])#[^\n]*`;
const LANGUAGES: Readonly<Record<string, Language>> = {
  ts: { comment: String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`, words: TS_WORDS },
  sh: { comment: HASH, words: SH_WORDS, name: String.raw`(?<=\s)--?[a-zA-Z][\w-]*` },
  yaml: {
    comment: HASH,
    words: 'true false null',
    name: String.raw`^[ \t-]*[\w./-]+(?=:(?:\s|$))`,
  },
  json: { comment: '(?!)', words: 'true false null', name: String.raw`"[^"\n]*"(?=\s*:)` },
  promql: {
    comment: HASH,
    words: PROMQL_WORDS,
    name: String.raw`\b(?:bigfleet|process|nodejs)_\w+`,
  },
};
const SAME: Readonly<Record<string, string>> = {
  bash: 'sh',
  typescript: 'ts',
  yml: 'yaml',
  js: 'ts',
};

export function highlight(code: string, language: string): string {
  const known = LANGUAGES[SAME[language] ?? language];
  if (known === undefined) return escape(code);
  const words = known.words.split(' ').join('|');
  const token = new RegExp(
    `(?<comment>${known.comment})|(?<name>${known.name ?? '(?!)'})|(?<string>${STRING})|` +
      String.raw`(?<word>(?<![\w.-])(?:${words})(?![\w-]))|(?<number>${NUMBER})`,
    'gm',
  );
  let html = '';
  let from = 0;
  for (const match of code.matchAll(token)) {
    const [kind = ''] =
      Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? [];
    html += `${escape(code.slice(from, match.index))}<span class="t-${kind}">${escape(match[0])}</span>`;
    from = match.index + match[0].length;
  }
  return html + escape(code.slice(from));
}

export function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
