// Proves that the presets are the numbers of shard §2.6.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { keepaliveOptions } from './limits.ts';

const cases = [
  ['session', [30_000, 10_000, 1]],
  ['provider', [60_000, 20_000, 0]],
  [{ timeMs: 5, timeoutMs: 6 }, [5, 6, 1]],
] as const;
for (const [choice, expected] of cases) {
  it(`keepalive ${JSON.stringify(choice)}`, () => {
    assert.deepEqual(Object.values(keepaliveOptions(choice)), expected);
  });
}
