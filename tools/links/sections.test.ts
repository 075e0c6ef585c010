// Proves that a section sign without a file, a file or heading that does not exist and a broken
// chain are each found at their line, and that the ways in which sections are cited raise no alarm.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { checkSections } from './sections.ts';

/** `$` stands for the section sign: written out, these lines would be citations of this file. */
const S = (text: string): string => text.replaceAll('$', '\u00a7');

const SPECIFICATION: Readonly<Record<string, string>> = {
  'docs/spec/README.md': '# The specification\n## 9. Not a part\n',
  'docs/spec/engine.md': '## 5. Phase 1\n### 5.4 Domain choice\n### 5.9 Parking\n## 6. Phase 2\n',
  'docs/spec/provider-contract.md': '## 4. Order\n### 4.1 Codes\n## 8. Shape\n',
  'docs/spec/providers.md': '## A4. Identity\n## A5. Bootstrap\n## C4. Pages\n',
};

function report(t: TestContext, more: Readonly<Record<string, string>>) {
  const root = mkdtempSync(path.join(tmpdir(), 'sections-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [file, text] of Object.entries({ ...SPECIFICATION, ...more })) {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), S(text));
  }
  return checkSections(root);
}

const GOOD: readonly (readonly [text: string, citations: number])[] = [
  ['engine $5.4', 1],
  ['Engine $5.4 says; see `engine.md` $6 and docs/spec/engine.md $5', 3],
  ['[engine.md](../docs/spec/engine.md) $6', 1],
  ['(engine $5.4, $5.9 and $6)', 3],
  ['engine $5 rule 2b, $5.4 (ii), $5.9 steps 2 and 4, $6', 4],
  ['// engine $5.4,\n  // $5.9 and\n  // $6', 3],
  [' * engine\n * $5.4\n', 1],
  ['# engine $5.4,\n# $6', 2],
  ['engine $5–6, provider-contract $4.1', 2],
  ['providers A4, A5 and C4; providers  \n// A5', 2],
  ['section 5 of nothing, and providers B', 0],
];

test('every way of citing a heading that exists is accepted, and counted', (t) => {
  for (const [text, citations] of GOOD) {
    assert.deepEqual(report(t, { 'a.ts': text }), { citations, problems: [] }, text);
  }
});

const BAD: readonly (readonly [text: string, problem: string])[] = [
  ['see $5.4', 'cites $5.4 without a file of docs/spec in front of it'],
  ['see $', 'cites $ without a file of docs/spec in front of it'],
  ['engine $7', 'cites engine $7, but docs/spec/engine.md has no heading 7'],
  ['engine $', 'cites engine $, but docs/spec/engine.md has no heading '],
  ['engine $5.40', 'cites engine $5.40, but docs/spec/engine.md has no heading 5.40'],
  ['engine $5–7', 'cites engine $5–7, but docs/spec/engine.md has no heading 7'],
  ['engine $5.4, $5.9 and $4.1', 'cites engine $4.1, but docs/spec/engine.md has no heading 4.1'],
  ['engine $5.4. As in $6', 'cites $6 without a file of docs/spec in front of it'],
  ['engine $5.4, which the law of $6', 'cites $6 without a file of docs/spec in front of it'],
  ['motor.md $5', 'cites motor $5, but there is no docs/spec/motor.md'],
  ['motor $5', 'cites $5 without a file of docs/spec in front of it'],
  ['contract $4', 'cites contract $4, but there is no docs/spec/contract.md'],
  ['README.md $9', 'cites readme $9, but there is no docs/spec/readme.md'],
  ['providers A4 and A9', 'cites providers A9, but docs/spec/providers.md has no such heading'],
];

test('each kind of citation that leads nowhere is found at its line', (t) => {
  for (const [text, problem] of BAD) {
    const { problems } = report(t, { 'deploy/a.yaml': `first line\n${text}\n` });
    assert.deepEqual(problems, [S(`deploy/a.yaml:2 ${problem}`)], text);
  }
});

test('inside the specification a sign alone means its own file, and only there', (t) => {
  const more = { 'docs/spec/shard.md': '## 1. One\nsee $1, engine $6 and $5, then $1\n' };
  assert.deepEqual(report(t, more), { citations: 4, problems: [] });
  const bad = { 'docs/spec/shard.md': '## 1. One\nsee contract $8\nAs in $8\n', 'docs/a.md': '$1' };
  assert.deepEqual(report(t, bad).problems.toSorted(), [
    S('docs/a.md:1 cites $1 without a file of docs/spec in front of it'),
    S('docs/spec/shard.md:2 cites contract $8, but there is no docs/spec/contract.md'),
    S('docs/spec/shard.md:3 cites shard $8, but docs/spec/shard.md has no heading 8'),
  ]);
});

test('bytes are no text', (t) => {
  assert.deepEqual(report(t, { 'a.bin': '\0$5' }), { citations: 0, problems: [] });
});

test('the command fails on a citation that leads nowhere', (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'sections-'));
  t.after(() => rmSync(root, { recursive: true }));
  writeFileSync(path.join(root, 'README.md'), S('# A page\nsee $5\n'));
  const command = path.join(import.meta.dirname, '../links.ts');
  const { status, stdout } = spawnSync(process.execPath, [command, root], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stdout, /^FAIL README\.md:2 cites /m);
});

test('every citation of this repository resolves', () => {
  const { citations, problems } = checkSections(path.join(import.meta.dirname, '../..'));
  assert.deepEqual(problems, []);
  assert.ok(citations > 1000, `only ${citations} citations were seen`);
});
