// Proves the golden assembler against bytes written out by hand from the published encoding rules,
// and that its parser refuses what it does not understand.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assemble } from './assemble.ts';
import { parseVectors } from './vector-syntax.ts';

const table: readonly { readonly text: string; readonly hex: string }[] = [
  { text: '1 a int32 150', hex: '08 96 01' },
  { text: '2 b string "testing"', hex: '12 07 74 65 73 74 69 6e 67' },
  { text: '3 c Sub { 1 a int32 150 }', hex: '1a 03 08 96 01' },
  { text: '3 c Sub { }', hex: '1a 00' },
  { text: '6 e repeated int32 [3 270 86942]', hex: '32 06 03 8e 02 9e a7 05' },
  { text: '1 a int32 -2', hex: '08 fe ff ff ff ff ff ff ff ff 01' },
  { text: '1 a int64 -9223372036854775808', hex: '08 80 80 80 80 80 80 80 80 80 01' },
  { text: '1 a uint64 18446744073709551615', hex: '08 ff ff ff ff ff ff ff ff ff 01' },
  { text: '16 a bool true', hex: '80 01 01' },
  { text: '1000 a Kind KIND_B=2', hex: 'c0 3e 02' },
  { text: '1 a double 1', hex: '09 00 00 00 00 00 00 f0 3f' },
  { text: '1 a double -inf', hex: '09 00 00 00 00 00 00 f0 ff' },
  { text: '7 m map<string,int32> "k" 0', hex: '3a 05 0a 01 6b 10 00' },
  { text: '1 a bytes hex:00ff', hex: '0a 02 00 ff' },
  { text: '1 a string "\\u0000é\\ud83d\\ude00"', hex: '0a 07 00 c3 a9 f0 9f 98 80' },
  { text: '- a Kind KIND_A=0', hex: '' },
];

for (const { text, hex } of table) {
  test(`assembles ${text}`, () => {
    const [vector] = parseVectors('table', `vector T { ${text} }`);
    assert.ok(vector);
    assert.equal(Buffer.from(assemble(vector.lines)).toString('hex'), hex.replaceAll(' ', ''));
  });
}

const refused: readonly string[] = [
  'vector T { 0 a int32 1 }',
  'vector T { x a int32 1 }',
  'vector T { 1 a int32 one }',
  'vector T { 1 a bytes 00ff }',
  'vector T { 1 a bytes hex:0 }',
  'vector T { 1 a bool yes }',
  'vector T { 1 a double many }',
  'vector T { 1 a Kind KIND_A }',
  'vector T { 1 a string bare }',
  'vector T { 1 a string "open }',
  'vector T { 1 a int32 1',
  'T { }',
];

for (const text of refused) {
  test(`refuses ${text}`, () => {
    assert.throws(() => parseVectors('table', text));
  });
}
