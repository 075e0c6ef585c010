// A template as a tree. What Go refuses when it parses is refused here, so that a broken template stops
// the operator at its start and not a machine at its boot: unknown functions, undeclared variables,
// unbalanced blocks. Node kinds follow text/template/parse.

import { lex, TemplateSyntaxError, type Token } from './lex.ts';
import { unquoted } from './quote.ts';
import type { Value } from './value.ts';

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly pipe: Pipe }
  | {
      readonly kind: 'if' | 'with' | 'range';
      readonly pipe: Pipe;
      readonly body: readonly Node[];
      readonly otherwise: readonly Node[];
    }
  | {
      readonly kind: 'template';
      readonly name: string;
      readonly pipe: Pipe | undefined;
      readonly line: number;
    }
  | { readonly kind: 'break' | 'continue' };

export interface Pipe {
  readonly line: number;
  /** `$x :=`, or `$i, $e :=` of a range. */
  readonly variables: readonly string[];
  /** `=` instead of `:=`. */
  readonly isAssignment: boolean;
  readonly commands: readonly (readonly Operand[])[];
}

export type Operand =
  | { readonly kind: 'constant'; readonly value: Value }
  | { readonly kind: 'nil' }
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'dot' | 'root'; readonly fields: readonly string[] }
  | { readonly kind: 'variable'; readonly name: string; readonly fields: readonly string[] }
  | { readonly kind: 'pipe'; readonly pipe: Pipe; readonly fields: readonly string[] };

export interface Template {
  readonly main: readonly Node[];
  readonly defined: ReadonlyMap<string, readonly Node[]>;
}

export function parseTemplate(text: string, functions: ReadonlySet<string>): Template {
  return new Parser(lex(text), functions).template();
}

type Terminator = 'end' | 'else' | 'eof';

class Parser {
  readonly #tokens: readonly Token[];
  readonly #functions: ReadonlySet<string>;
  readonly #defined = new Map<string, readonly Node[]>();
  /** Declared names in scope; `$` is the data. */
  #variables: string[] = ['$'];
  #at = 0;
  #rangeDepth = 0;

  constructor(tokens: readonly Token[], functions: ReadonlySet<string>) {
    this.#tokens = tokens;
    this.#functions = functions;
  }

  template(): Template {
    const { nodes, ended } = this.#nodes(true);
    if (ended !== 'eof') this.#fail(`unexpected {{${ended}}}`);
    return { main: nodes, defined: this.#defined };
  }

  // ── blocks ──────────────────────────────────────────────────────────────────────────────

  /** Up to the `end` or `else` that belongs to the block; the token after the word is next. */
  #nodes(isTop: boolean): { readonly nodes: readonly Node[]; readonly ended: Terminator } {
    const nodes: Node[] = [];
    for (;;) {
      const token = this.#tokens[this.#at];
      if (token === undefined) {
        if (!isTop) this.#fail('unexpected EOF: a block has no {{end}}');
        return { nodes, ended: 'eof' };
      }
      this.#at++;
      if (token.kind === 'text') {
        nodes.push({ kind: 'text', text: token.text });
        continue;
      }
      this.#skipSpace();
      const word = this.#peek('word')?.text;
      if (word === 'end' || word === 'else') {
        this.#at++;
        return { nodes, ended: word };
      }
      const node = this.#action(word);
      if (node !== undefined) nodes.push(node);
    }
  }

  #action(word: string | undefined): Node | undefined {
    switch (word) {
      case 'if':
      case 'with':
      case 'range':
        this.#at++;
        return this.#control(word);
      case 'define':
        this.#at++;
        return this.#define();
      case 'block':
        this.#at++;
        return this.#block();
      case 'template':
        this.#at++;
        return this.#call();
      case 'break':
      case 'continue':
        this.#at++;
        if (this.#rangeDepth === 0) this.#fail(`{{${word}}} outside {{range}}`);
        this.#close(word);
        return { kind: word };
      default:
        return { kind: 'action', pipe: this.#pipe('close', 'command', 1) };
    }
  }

  #control(kind: 'if' | 'with' | 'range'): Node {
    const outer = this.#variables.length;
    const pipe = this.#pipe('close', kind, kind === 'range' ? 2 : 1);
    if (kind === 'range') this.#rangeDepth++;
    const { nodes: body, ended } = this.#nodes(false);
    if (kind === 'range') this.#rangeDepth--;
    const otherwise = ended === 'else' ? this.#else(kind) : [];
    if (ended === 'end') this.#close('end');
    this.#variables.length = outer;
    return { kind, pipe, body, otherwise };
  }

  /** `{{else}}…{{end}}`, or `{{else if …}}`, which shares the end of its parent. */
  #else(kind: 'if' | 'with' | 'range'): readonly Node[] {
    this.#skipSpace();
    const next = this.#peek('word')?.text;
    if (next !== undefined && next === kind && kind !== 'range') {
      this.#at++;
      return [this.#control(kind)];
    }
    this.#close('else');
    const { nodes, ended } = this.#nodes(false);
    if (ended === 'else') this.#fail('expected end; found {{else}}');
    this.#close('end');
    return nodes;
  }

  #define(): undefined {
    const name = this.#name('define');
    this.#close('define');
    this.#addDefinition(name);
    return undefined;
  }

  #block(): Node {
    const line = this.#line();
    const name = this.#name('block');
    const pipe = this.#pipe('close', 'block', 1);
    this.#addDefinition(name);
    return { kind: 'template', name, pipe, line };
  }

  #addDefinition(name: string): void {
    const outer = this.#variables;
    const depth = this.#rangeDepth;
    this.#variables = ['$'];
    this.#rangeDepth = 0;
    const { nodes, ended } = this.#nodes(false);
    if (ended !== 'end') this.#fail('unexpected {{else}} in a definition');
    this.#close('end');
    this.#variables = outer;
    this.#rangeDepth = depth;
    if (this.#defined.has(name) && nodes.length > 0 && (this.#defined.get(name)?.length ?? 0) > 0) {
      this.#fail(`multiple definition of template ${JSON.stringify(name)}`);
    }
    this.#defined.set(name, nodes);
  }

  #call(): Node {
    const line = this.#line();
    const name = this.#name('template');
    this.#skipSpace();
    const hasPipe = this.#tokens[this.#at]?.kind !== 'close';
    const pipe = hasPipe ? this.#pipe('close', 'template', 1) : undefined;
    if (!hasPipe) this.#close('template');
    return { kind: 'template', name, pipe, line };
  }

  #name(of: string): string {
    this.#skipSpace();
    const token = this.#peek('string');
    if (token === undefined) return this.#fail(`missing name in {{${of}}}`);
    this.#at++;
    return unquoted(token.text, token.line);
  }

  // ── pipelines ───────────────────────────────────────────────────────────────────────────

  #pipe(end: 'close' | ')', context: string, mostVariables: number): Pipe {
    const line = this.#line();
    const declared = this.#declaration(context, mostVariables);
    const commands: (readonly Operand[])[] = [];
    for (;;) {
      commands.push(this.#command());
      const token = this.#tokens[this.#at];
      this.#at++;
      if (token?.text === '|' && token.kind === 'sign') continue;
      if (token?.kind === 'close' ? end === 'close' : token?.text === end) break;
      this.#fail(
        token === undefined ? 'unclosed action' : `unexpected ${token.text} in ${context}`,
      );
    }
    commands.forEach((command, i) => this.#checkStage(command, i, context));
    // A name counts from here on: its own pipeline cannot use it.
    if (!declared.isAssignment) this.#variables.push(...declared.variables);
    return { line, ...declared, commands };
  }

  #checkStage(command: readonly Operand[], i: number, context: string): void {
    const [first] = command;
    if (first === undefined) return this.#fail(`missing value for ${context}`);
    // As Go: a field could be a method until the run shows that it is none.
    const isValue =
      first.kind === 'constant' ||
      first.kind === 'nil' ||
      (first.kind === 'dot' && first.fields.length === 0);
    if (i > 0 && isValue) this.#fail(`non executable command in pipeline stage ${i + 1}`);
  }

  #declaration(
    context: string,
    mostVariables: number,
  ): { readonly variables: readonly string[]; readonly isAssignment: boolean } {
    const start = this.#at;
    const variables: string[] = [];
    for (;;) {
      this.#skipSpace();
      const variable = this.#peek('variable');
      if (variable === undefined) break;
      this.#at++;
      variables.push(variable.text);
      this.#skipSpace();
      const sign = this.#peek('sign')?.text;
      if (sign === ',') {
        this.#at++;
        continue;
      }
      if (sign !== ':=' && sign !== '=') break;
      this.#at++;
      if (variables.length > mostVariables) this.#fail(`too many declarations in ${context}`);
      // As Go: an assignment to an undeclared name fails when it runs, and only then.
      return { variables, isAssignment: sign === '=' };
    }
    this.#at = start;
    return { variables: [], isAssignment: false };
  }

  #command(): readonly Operand[] {
    const operands: Operand[] = [];
    for (;;) {
      this.#skipSpace();
      const operand = this.#operand();
      if (operand === undefined) return operands;
      operands.push(operand);
      const next = this.#tokens[this.#at];
      const isSeparated =
        next === undefined ||
        next.kind === 'space' ||
        next.kind === 'close' ||
        next.text === '|' ||
        next.text === ')';
      if (!isSeparated) this.#fail(`unexpected ${next.text} in operand`);
    }
  }

  #operand(): Operand | undefined {
    const token = this.#tokens[this.#at];
    if (token === undefined) return undefined;
    switch (token.kind) {
      case 'string':
      case 'char':
      case 'number':
        this.#at++;
        return { kind: 'constant', value: constantOf(token) };
      case 'word':
        this.#at++;
        return this.#word(token);
      case 'dot':
        this.#at++;
        return { kind: 'dot', fields: [] };
      case 'field':
        return { kind: 'dot', fields: this.#fields() };
      case 'variable':
        this.#at++;
        this.#checkDeclared(token.text);
        return token.text === '$'
          ? { kind: 'root', fields: this.#fields() }
          : { kind: 'variable', name: token.text, fields: this.#fields() };
      default:
        if (token.text !== '(' || token.kind !== 'sign') return undefined;
        this.#at++;
        return {
          kind: 'pipe',
          pipe: this.#pipe(')', 'parenthesized pipeline', 1),
          fields: this.#fields(),
        };
    }
  }

  #word(token: Token): Operand {
    if (token.text === 'true' || token.text === 'false') {
      return { kind: 'constant', value: token.text === 'true' };
    }
    if (token.text === 'nil') return { kind: 'nil' };
    if (!this.#functions.has(token.text)) this.#fail(`function "${token.text}" not defined`);
    return { kind: 'function', name: token.text };
  }

  #fields(): readonly string[] {
    const fields: string[] = [];
    for (let token = this.#peek('field'); token !== undefined; token = this.#peek('field')) {
      fields.push(token.text.slice(1));
      this.#at++;
    }
    return fields;
  }

  #checkDeclared(name: string): void {
    if (!this.#variables.includes(name)) this.#fail(`undefined variable "${name}"`);
  }

  // ── tokens ──────────────────────────────────────────────────────────────────────────────

  #peek(kind: Token['kind']): Token | undefined {
    const token = this.#tokens[this.#at];
    return token?.kind === kind ? token : undefined;
  }

  #skipSpace(): void {
    while (this.#peek('space') !== undefined) this.#at++;
  }

  #close(after: string): void {
    this.#skipSpace();
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'close') this.#fail(`unexpected ${token?.text ?? 'EOF'} in ${after}`);
    this.#at++;
  }

  #line(): number {
    return (this.#tokens[this.#at] ?? this.#tokens.at(-1))?.line ?? 1;
  }

  #fail(problem: string): never {
    throw new TemplateSyntaxError(this.#tokens[Math.max(0, this.#at - 1)]?.line ?? 1, problem);
  }
}

function constantOf(token: Token): Value {
  const { kind, text, line } = token;
  if (kind === 'string') return unquoted(text, line);
  if (kind === 'char') {
    const [character] = unquoted(
      `"${text.slice(1, -1).replace(/^"$/, '\\"').replace(/^\\'$/, "'")}"`,
      line,
    );
    return BigInt(character?.codePointAt(0) ?? 0);
  }
  const digits = text.replaceAll('_', '');
  const isWhole = /^[+-]?(?:\d+|0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+)$/.test(digits);
  if (!isWhole) return Number(digits);
  const sign = digits.startsWith('-') ? -1n : 1n;
  const bare = digits.replace(/^[+-]/, '');
  // As Go: a leading zero is octal.
  return sign * BigInt(/^0\d/.test(bare) ? `0o${bare.slice(1)}` : bare);
}
