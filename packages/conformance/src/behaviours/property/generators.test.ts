// Proves that the random inputs of the property behaviours have the promised shape, that the fixed
// hostile map holds what it promises, and that the lifecycle model is the contract's table.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { mutations } from '../../harness/fencing.ts';
import { hostileMap } from '../metadata/metadata.ts';
import { percentile99 } from '../scale/latency.ts';
import { expectationOf } from './lifecycle.ts';
import { randomMap } from './metadata.ts';

test('random maps: 0 to 11 entries, values of at most 23 code points, whole characters only', () => {
  const sizes = new Set<number>();
  let astral = 0;
  let controls = 0;
  let proto = 0;
  for (let seed = 0; seed < 500; seed++) {
    const map = randomMap(createRandom(BigInt(seed)));
    sizes.add(map.size);
    if (map.has('__proto__')) proto++;
    for (const text of [...map.keys(), ...map.values()]) {
      assert.ok(text.isWellFormed(), 'a lone surrogate cannot travel as UTF-8');
      if (/[\u{10000}-\u{10ffff}]/u.test(text)) astral++;
      if (Array.from(text).some((char) => char < ' ')) controls++;
    }
    for (const value of map.values()) assert.ok(Array.from(value).length <= 23);
  }
  assert.equal(Math.max(...sizes), 11);
  assert.ok(sizes.has(0) && astral > 100 && controls > 100 && proto > 10);
});

test('the hostile map has 55 keys, NUL in a key, every C0 control, and inherited names', () => {
  const map = hostileMap();
  assert.equal(map.size, 55);
  const all = [...map].flat().join('');
  for (let code = 0; code < 32; code++) assert.ok(all.includes(String.fromCharCode(code)));
  assert.ok([...map.keys()].some((key) => key.includes('\u0000')));
  assert.ok(map.has('__proto__') && map.has('constructor') && map.get('hostile/empty') === '');
  assert.ok(all.isWellFormed());
});

test('the model is the table of provider-contract §4.1 for machines at rest', () => {
  const expected: Readonly<Record<string, readonly string[]>> = {
    SPECULATIVE: ['edge IDLE', 'rejected', 'rejected', 'at-target'],
    IDLE: ['at-target', 'edge CONFIGURED', 'at-target', 'edge SPECULATIVE'],
    CONFIGURED: ['rejected', 'at-target', 'edge IDLE', 'rejected'],
    FAILED: ['rejected', 'rejected', 'rejected', 'rejected'],
  };
  for (const state of ['SPECULATIVE', 'IDLE', 'CONFIGURED', 'FAILED'] as const) {
    const row = mutations.map((mutation) => {
      const expectation = expectationOf(mutation, state, { delete: true });
      return expectation.kind === 'edge' ? `edge ${expectation.to}` : expectation.kind;
    });
    assert.deepEqual(row, expected[state], state);
    const without = expectationOf('delete', state, { delete: false });
    assert.equal(without.kind, 'unimplemented');
  }
});

test('p99 is the nearest rank', () => {
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);
  assert.equal(percentile99(upTo(120)), 119);
  assert.equal(percentile99(upTo(60)), 60);
  assert.equal(percentile99([3, 1, 2]), 3);
});
