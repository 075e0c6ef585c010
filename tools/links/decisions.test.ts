// Proves that the decision map can fail: a missing row, a row without a test, an unknown record.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { checkDecisions } from './decisions.ts';

const index = `| Record | Title | Status |
|---|---|---|
| [0008](a.md) | Old | Superseded by 0048 |
| [0048](b.md) | New | Accepted |
| [0051](c.md) | Later | Amended by 0064 |
`;
const row48 = '| [0048](b.md) | `packages/a.ts` | `packages/a.test.ts` |\n';
const row51 = '| [0051](c.md) | `packages/b.ts` | `packages/b.test.ts` |\n';

const cases: readonly { name: string; map: string; found: RegExp[] }[] = [
  { name: 'complete', map: row48 + row51, found: [] },
  { name: 'a missing row', map: row48, found: [/record 0051 stands/] },
  {
    name: 'a row without a test',
    map: `${row48}| [0051](c.md) | \`packages/b.ts\` |  |\n`,
    found: [/record 0051 stands/],
  },
  {
    name: 'an unknown record',
    map: `${row48}${row51}| [0099](d.md) | \`packages/c.ts\` | \`packages/c.test.ts\` |\n`,
    found: [/record 0099 is not in/],
  },
];

for (const { name, map, found } of cases) {
  test(`decision map: ${name}`, (context) => {
    const root = mkdtempSync(path.join(tmpdir(), 'bigfleet-decisions-'));
    context.after(() => rmSync(root, { recursive: true }));
    mkdirSync(path.join(root, 'docs/adr'), { recursive: true });
    mkdirSync(path.join(root, 'docs/internals'), { recursive: true });
    writeFileSync(path.join(root, 'docs/adr/index.md'), index);
    writeFileSync(path.join(root, 'docs/internals/decision-map.md'), map);
    const problems = checkDecisions(root);
    assert.equal(problems.length, found.length, problems.join('\n'));
    for (const [at, pattern] of found.entries()) assert.match(problems[at] ?? '', pattern);
  });
}

test('the map of this repository is complete', () => {
  assert.deepEqual(checkDecisions(path.join(import.meta.dirname, '../..')), []);
});
