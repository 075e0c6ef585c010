// A tokenizer for JavaScript and TypeScript, good enough to find imports and uses of globals
// without being fooled by comments, strings, templates, regular expressions or JSX text.
//
// TypeScript 7 has no JavaScript API, and a boundary checker that silently sees nothing is
// worse than none. So this throws LexError on anything it cannot account for (an open string,
// an unbalanced brace, an escape in an identifier): the caller turns that into a violation.
// It refuses to build a syntax tree: the walls need tokens and lines only.

export type TokenKind = 'name' | 'punct' | 'string' | 'template' | 'number' | 'regex' | 'private';

export interface Token {
  readonly kind: TokenKind;
  /** Source text; for 'string' and a template without substitutions, the value between quotes. */
  readonly text: string;
  readonly line: number;
  /** True for a template that contains `${…}`: its text is not the whole value. */
  readonly partial?: true;
}

export class LexError extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.name = 'LexError';
    this.line = line;
  }
}

export function lex(source: string, options: { readonly jsx: boolean }): Token[] {
  const lexer = new Lexer(source, options.jsx);
  lexer.run();
  return lexer.tokens;
}

/** After one of these words an operand follows, so a slash opens a regular expression. */
const OPERATOR_WORDS: ReadonlySet<string> = new Set(
  (
    'return typeof instanceof in of new delete void throw case do else yield await default ' +
    'extends export import'
  ).split(' '),
);
const CONTROL_WORDS: ReadonlySet<string> = new Set(['if', 'while', 'for', 'with']);

const SPACE = /[\s\uFEFF]+/y;
const NAME = /[\p{ID_Start}$_][\p{ID_Continue}$\u200C\u200D]*/uy;
const NUMBER = /0[xXbBoO][\da-fA-F_]+n?|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?n?/y;
const PUNCT = /\?\.(?!\d)|\.\.\.|=>|\+\+|--|[!=]==?|[^\s]/uy;
const JSX_OPEN = /<(?=[\p{ID_Start}$_>])(?!(?:const\s+)?[\w$]+\s*(?:,|extends\s))/uy;
const JSX_TEXT = /[<{]/g;
const JSX_NAME = /[\p{ID_Start}$_][\p{ID_Continue}$.:-]*/uy;

/** What a closing bracket returns to. */
interface Open {
  readonly bracket: '(' | '[' | '{';
  /** Whether the closed whole is an operand: `(a + b)` and `{a: 1}` are, a block is not. */
  readonly operand: boolean;
  readonly line: number;
}

class Lexer {
  readonly tokens: Token[] = [];
  readonly #source: string;
  readonly #jsx: boolean;
  #at = 0;
  #line = 1;
  /** Whether the previous token ends an operand, so that a slash divides. */
  #operand = false;

  constructor(source: string, jsx: boolean) {
    this.#source = source;
    this.#jsx = jsx;
  }

  run(): void {
    if (this.#source.startsWith('#!')) this.#advanceTo(this.#endOfLine());
    this.#code('end of file');
  }

  /** Reads code up to its end: the end of the file, or the `}` that closes `${` or a JSX `{`. */
  #code(until: 'end of file' | 'closing brace'): void {
    const open: Open[] = [];
    const startLine = this.#line;
    this.#operand = false;
    for (;;) {
      this.#skipSpaceAndComments();
      const char = this.#source[this.#at];
      if (char === undefined) {
        const unclosed = open.at(-1);
        if (unclosed !== undefined) {
          throw new LexError(`"${unclosed.bracket}" is never closed`, unclosed.line);
        }
        if (until === 'closing brace') throw new LexError('"{" is never closed', startLine);
        return;
      }
      if (char === '}' && open.length === 0 && until === 'closing brace') {
        this.#at++;
        return;
      }
      this.#token(char, open);
    }
  }

  #token(char: string, open: Open[]): void {
    if (char === '"' || char === "'") return this.#string(char);
    if (char === '`') return this.#template();
    if (char === '/' && !this.#operand) return this.#regex();
    if (char === '<' && this.#jsx && !this.#operand && this.#test(JSX_OPEN)) {
      this.#jsxElement();
      this.#operand = true;
      return;
    }
    const digit = /\d/.test(char) || (char === '.' && /\d/.test(this.#source[this.#at + 1] ?? ''));
    if (digit) return this.#push('number', this.#take(NUMBER), true);
    if (char === '#') {
      this.#at++;
      return this.#push('private', `#${this.#take(NAME)}`, true);
    }
    if (this.#test(NAME)) return this.#name();
    if (char === '\\') throw new LexError('escape in an identifier', this.#line);
    this.#punct(open);
  }

  #name(): void {
    const previous = this.tokens.at(-1);
    const text = this.#take(NAME);
    const property = previous?.text === '.' || previous?.text === '?.';
    this.#push('name', text, property || !OPERATOR_WORDS.has(text));
  }

  #punct(open: Open[]): void {
    const previous = this.tokens.at(-1);
    const before = this.tokens.at(-2);
    const wasOperand = this.#operand;
    const text = this.#take(PUNCT);
    this.#push('punct', text, false);
    if (text === '(') {
      const control =
        previous?.kind === 'name' && CONTROL_WORDS.has(previous.text) && before?.text !== '.';
      const forAwait = previous?.text === 'await' && before?.text === 'for';
      open.push({ bracket: '(', operand: !control && !forAwait, line: this.#line });
    } else if (text === '[') {
      open.push({ bracket: '[', operand: true, line: this.#line });
    } else if (text === '{') {
      // After a name, `)` or `=>` comes a body; after an operator comes an object literal.
      const statement =
        wasOperand || previous === undefined || [';', '{', '}', '=>', ')'].includes(previous.text);
      const word = ['else', 'do', 'default', 'export', 'import'].includes(previous?.text ?? '');
      open.push({ bracket: '{', operand: !statement && !word, line: this.#line });
    } else if (text === ')' || text === ']' || text === '}') {
      this.#close(text, open);
    } else if (text === '++' || text === '--' || text === '!') {
      // Postfix after an operand (`!` is TypeScript's non-null), prefix otherwise.
      this.#operand = wasOperand;
    }
  }

  #close(text: ')' | ']' | '}', open: Open[]): void {
    const opener = open.pop();
    const wanted = { ')': '(', ']': '[', '}': '{' }[text];
    if (opener?.bracket !== wanted) {
      throw new LexError(`"${text}" closes ${opener?.bracket ?? 'nothing'}`, this.#line);
    }
    this.#operand = opener.operand;
  }

  #string(quote: string): void {
    const line = this.#line;
    const start = this.#at + 1;
    for (let at = start; at < this.#source.length; at++) {
      const char = this.#source[at];
      if (char === '\\') at++;
      else if (char === '\n') break;
      else if (char === quote) {
        const text = this.#source.slice(start, at);
        this.#advanceTo(at + 1);
        this.tokens.push({ kind: 'string', text, line });
        this.#operand = true;
        return;
      }
    }
    throw new LexError('string is never closed', line);
  }

  #template(): void {
    const line = this.#line;
    let start = this.#at + 1;
    let partial = false;
    for (let at = start; at < this.#source.length; at++) {
      const char = this.#source[at];
      if (char === '\\') at++;
      else if (char === '`') {
        const text = this.#source.slice(start, at);
        this.#advanceTo(at + 1);
        this.tokens.push({ kind: 'template', text, line, ...(partial ? { partial } : {}) });
        this.#operand = true;
        return;
      } else if (char === '$' && this.#source[at + 1] === '{') {
        const text = this.#source.slice(start, at);
        this.tokens.push({ kind: 'template', text, line: this.#line, partial: true });
        partial = true;
        this.#advanceTo(at + 2);
        this.#code('closing brace');
        start = this.#at;
        at = start - 1;
      }
    }
    throw new LexError('template is never closed', line);
  }

  #regex(): void {
    const start = this.#at;
    let inClass = false;
    for (let at = start + 1; at < this.#source.length; at++) {
      const char = this.#source[at];
      if (char === '\n') break;
      if (char === '\\') at++;
      else if (char === '[') inClass = true;
      else if (char === ']') inClass = false;
      else if (char === '/' && !inClass) {
        this.#at = at + 1;
        if (this.#test(NAME)) this.#take(NAME);
        return this.#push('regex', this.#source.slice(start, this.#at), true);
      }
    }
    throw new LexError('regular expression is never closed', this.#line);
  }

  /** An element or fragment: only its `{…}` parts contain code. */
  #jsxElement(): void {
    const line = this.#line;
    this.#at++;
    if (this.#source[this.#at] !== '>') this.#take(JSX_NAME);
    this.#jsxTypeArguments(line);
    for (;;) {
      this.#skipSpaceAndComments();
      const char = this.#source[this.#at];
      if (char === undefined) throw new LexError('JSX element is never closed', line);
      if (char === '>') {
        this.#at++;
        return this.#jsxChildren(line);
      }
      if (char === '/' && this.#source[this.#at + 1] === '>') {
        this.#at += 2;
        return;
      }
      this.#jsxAttributePart(char);
    }
  }

  /** `<Table<Row>`: types that hold no import, so they are passed over. */
  #jsxTypeArguments(line: number): void {
    let depth = 0;
    for (;;) {
      const char = this.#source[this.#at];
      if (char === '<') depth++;
      else if (depth === 0) return;
      else if (char === '>' && this.#source[this.#at - 1] !== '=') depth--;
      if (char === undefined) throw new LexError('JSX type arguments are never closed', line);
      this.#advanceTo(this.#at + 1);
    }
  }

  #jsxAttributePart(char: string): void {
    if (char === '{') {
      this.#at++;
      this.#code('closing brace');
    } else if (char === '"' || char === "'") {
      const end = this.#source.indexOf(char, this.#at + 1);
      if (end < 0) throw new LexError('JSX string is never closed', this.#line);
      this.#advanceTo(end + 1);
    } else if (char === '<') this.#jsxElement();
    else if (char === '=') this.#at++;
    else this.#take(JSX_NAME);
  }

  #jsxChildren(line: number): void {
    for (;;) {
      JSX_TEXT.lastIndex = this.#at;
      const end = JSX_TEXT.exec(this.#source);
      if (end === null) throw new LexError('JSX element is never closed', line);
      this.#advanceTo(end.index);
      if (this.#source[this.#at] === '{') {
        this.#at++;
        this.#code('closing brace');
      } else if (this.#source[this.#at + 1] === '/') {
        const close = this.#source.indexOf('>', this.#at);
        if (close < 0) throw new LexError('JSX closing tag is never closed', this.#line);
        this.#advanceTo(close + 1);
        return;
      } else this.#jsxElement();
    }
  }

  #skipSpaceAndComments(): void {
    for (;;) {
      if (this.#test(SPACE)) {
        SPACE.lastIndex = this.#at;
        this.#advanceTo(this.#at + (SPACE.exec(this.#source)?.[0].length ?? 0));
      } else if (this.#source.startsWith('//', this.#at)) this.#advanceTo(this.#endOfLine());
      else if (this.#source.startsWith('/*', this.#at)) {
        const end = this.#source.indexOf('*/', this.#at + 2);
        if (end < 0) throw new LexError('comment is never closed', this.#line);
        this.#advanceTo(end + 2);
      } else return;
    }
  }

  #push(kind: TokenKind, text: string, operand: boolean): void {
    this.tokens.push({ kind, text, line: this.#line });
    this.#operand = operand;
  }

  #endOfLine(): number {
    const end = this.#source.indexOf('\n', this.#at);
    return end < 0 ? this.#source.length : end;
  }

  #advanceTo(at: number): void {
    for (let i = this.#at; i < at; i++) if (this.#source.charCodeAt(i) === 10) this.#line++;
    this.#at = at;
  }

  #test(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    return pattern.test(this.#source);
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#source)?.[0];
    if (text === undefined) {
      throw new LexError(`unexpected ${JSON.stringify(this.#source[this.#at])}`, this.#line);
    }
    this.#at += text.length;
    return text;
  }
}
