// A template's text as literal pieces and the tokens between the delimiters, with `{{-` and `-}}`
// already applied to the literals. Positions are lines, for messages that a person can follow.

export type Token =
  | { readonly kind: 'text'; readonly text: string; readonly line: number }
  | { readonly kind: 'open' | 'close'; readonly text: string; readonly line: number }
  | { readonly kind: TokenKind; readonly text: string; readonly line: number };

type TokenKind =
  /** `if`, `range`, a function's name, `true`, `nil` … */
  | 'word'
  /** `.Name` */
  | 'field'
  /** `$` or `$name` */
  | 'variable'
  | 'string'
  | 'char'
  | 'number'
  /** `.` alone */
  | 'dot'
  | 'space'
  /** | ( ) , := = */
  | 'sign';

/** The template cannot be read; the message begins with its line. */
export class TemplateSyntaxError extends Error {
  override readonly name = 'TemplateSyntaxError';

  constructor(line: number, problem: string) {
    super(`line ${line}: ${problem}`);
  }
}

const OPEN = '{{';
const CLOSE = '}}';
const SPACES = ' \t\r\n';

const SCANS: readonly (readonly [TokenKind, RegExp])[] = [
  ['space', /[ \t\r\n]+/y],
  ['string', /"(?:[^"\\\n]|\\.)*"|`[^`]*`/y],
  ['char', /'(?:[^'\\\n]|\\.)+'/y],
  [
    'number',
    /[+-]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/y,
  ],
  ['field', /\.[\p{L}_][\p{L}\p{Nd}_]*/uy],
  ['variable', /\$[\p{L}\p{Nd}_]*/uy],
  ['word', /[\p{L}_][\p{L}\p{Nd}_]*/uy],
  ['dot', /\./y],
  ['sign', /:=|[=|(),]/y],
];

export function lex(template: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let line = 1;
  let trimNext = false;
  const advance = (text: string): void => {
    at += text.length;
    for (const character of text) if (character === '\n') line++;
  };
  for (;;) {
    const open = template.indexOf(OPEN, at);
    let literal = template.slice(at, open < 0 ? undefined : open);
    const literalLine = line;
    advance(literal);
    if (trimNext) literal = literal.replace(/^[ \t\r\n]+/, '');
    const trimsLeft = open >= 0 && hasTrimMarker(template, at + OPEN.length);
    if (trimsLeft) literal = literal.replace(/[ \t\r\n]+$/, '');
    if (literal !== '') tokens.push({ kind: 'text', text: literal, line: literalLine });
    if (open < 0) return tokens;
    advance(OPEN);
    if (trimsLeft) advance(template.slice(at, at + 2));
    const comment = /\/\*[^]*?\*\//y;
    comment.lastIndex = at;
    const found = comment.exec(template)?.[0];
    if (found !== undefined) {
      advance(found);
      trimNext = closes(template, at);
      if (!trimNext && !template.startsWith(CLOSE, at)) {
        throw new TemplateSyntaxError(line, 'comment ends before closing delimiter');
      }
      advance(trimNext ? template.slice(at, at + 4) : CLOSE);
      continue;
    }
    tokens.push({ kind: 'open', text: OPEN, line });
    for (;;) {
      trimNext = closes(template, at);
      if (trimNext) advance(template.slice(at, at + 2));
      if (template.startsWith(CLOSE, at)) break;
      const token = scan(template, at, line);
      tokens.push(token);
      advance(token.text);
    }
    tokens.push({ kind: 'close', text: CLOSE, line });
    advance(CLOSE);
  }
}

/** `{{- ` : a minus, then a space. */
function hasTrimMarker(template: string, at: number): boolean {
  return template[at] === '-' && SPACES.includes(template[at + 1] ?? 'x');
}

/** ` -}}` : a space, a minus, the end. */
function closes(template: string, at: number): boolean {
  return SPACES.includes(template[at] ?? 'x') && template.startsWith(`-${CLOSE}`, at + 1);
}

function scan(template: string, at: number, line: number): Token {
  if (at >= template.length) throw new TemplateSyntaxError(line, 'unclosed action');
  for (const [kind, pattern] of SCANS) {
    pattern.lastIndex = at;
    const text = pattern.exec(template)?.[0];
    if (text !== undefined && text !== '') return { kind, text, line };
  }
  const character = template[at] ?? '';
  const problem = '"`\''.includes(character)
    ? 'unterminated quoted string'
    : `unexpected ${JSON.stringify(character)}`;
  throw new TemplateSyntaxError(line, problem);
}
