// Proves that a broken link, a missing heading and a named file that does not exist are found
// with their place, and that code, placeholders and outside links raise no false alarm.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { checkLinks } from './check.ts';

const GOOD: Readonly<Record<string, string>> = {
  'README.md': [
    '# Big *fleet*: `make up`, twice',
    '[guide](docs/guide.md#what-is-it-1) and ![map](docs/map.svg "Map") and [here](#big-fleet-make-up-twice)',
    'See `packages/base/src/index.ts`, tools/run.ts and packages/base/.',
    'Copy `providers/_template` to `providers/<name>`; results land in bench/results/latest.json.',
    'Links in code are none: `[x](nowhere.md)`, [out](https://example.org/docs/none.md).',
    '```',
    '[y](nowhere.md) node tools/run.ts packages/*/none.ts',
    '```',
    '[ref]: ./docs/guide.md',
    'Future: `packages/none/src/later.ts` will do that,',
    'and docs/later.md describes it.',
  ].join('\n'),
  'docs/guide.md': '## What is it?\n## What is it?\n[up](../README.md) <a href="map.svg">map</a>\n',
  'docs/map.svg': '',
  'packages/base/src/index.ts': '',
  'packages/base/README.md': 'See [the tests](src/) and `test/own.ts`.\n',
  'packages/base/test/own.ts': '',
  'providers/_template/package.json': '{}',
  'tools/run.ts': '',
  'notes/unchecked.md': '[x](nowhere.md)',
};

function plant(t: TestContext, more: Readonly<Record<string, string>> = {}): string {
  const root = mkdtempSync(path.join(tmpdir(), 'links-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [file, text] of Object.entries({ ...GOOD, ...more })) {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  return root;
}

test('good pages raise nothing, and their links are really looked at', (t) => {
  const report = checkLinks(plant(t));
  assert.deepEqual(report.problems, []);
  assert.deepEqual([report.pages, report.links, report.paths], [3, 7, 7]);
});

test('a workspace that the page builds by itself need not exist; its neighbours must', (t) => {
  const page = [
    '```ts file=providers/acme/src/x.ts',
    'export {};',
    '```',
    'Run `providers/acme/src/main.ts` of `providers/acme`, not providers/acme-two.',
  ].join('\n');
  const { problems } = checkLinks(plant(t, { 'docs/acme.md': page }));
  assert.deepEqual(problems, ['docs/acme.md:4 names providers/acme-two, which does not exist']);
});

test('the specification may name a file of the future, and its links are checked', (t) => {
  const page = '`packages/none.ts` and [x](nowhere.md)\n';
  const { problems } = checkLinks(plant(t, { 'docs/spec/part.md': page }));
  assert.equal(problems.length, 1);
  assert.match(problems[0] ?? '', /nowhere\.md/);
});

test('without providers/ nothing is said about what is below it', (t) => {
  const page = '[a](../providers/a/README.md) `providers/b.ts` `packages/none.ts`\n';
  const root = plant(t, { 'docs/a.md': page });
  assert.equal(checkLinks(root).problems.length, 3);
  rmSync(path.join(root, 'providers'), { recursive: true });
  assert.deepEqual(checkLinks(root).problems, [
    'docs/a.md:1 names packages/none.ts, which does not exist',
  ]);
});

test('each kind of broken reference is found at its line', (t) => {
  const table: ReadonlyArray<readonly [line: string, problem: RegExp]> = [
    ['[x](nowhere.md)', /there is no docs\/nowhere\.md/],
    ['[x]( <nowhere.md> "t" )', /there is no/],
    ['![x](../map.svg)', /there is no map\.svg/],
    ['[x](guide.md#nothing)', /no heading is #nothing/],
    ['[x](#nothing)', /no heading is #nothing/],
    ['[x](../../outside.md)', /outside the repository/],
    ['[r]: gone.md', /there is no/],
    ['<img src="gone.png">', /there is no/],
    ['see `packages/base/src/gone.ts`.', /names packages\/base\/src\/gone\.ts/],
    ['run (tools/gone.ts)', /names tools\/gone\.ts/],
  ];
  for (const [line, problem] of table) {
    const { problems } = checkLinks(plant(t, { 'docs/bad.md': `# Bad\n\n${line}\n` }));
    assert.equal(problems.length, 1, `${line}: ${problems.join()}`);
    assert.match(problems[0] ?? '', /^docs\/bad\.md:3 /);
    assert.match(problems[0] ?? '', problem);
  }
});

test('the command exits 1 on a broken link and on a tree without pages', (t) => {
  const command = path.join(import.meta.dirname, '../links.ts');
  const run = (root: string): ReturnType<typeof spawnSync> =>
    spawnSync(process.execPath, [command, root], { encoding: 'utf8' });
  const decisions = {
    'docs/adr/index.md': '| [0048](../guide.md) | New | Accepted |\n',
    'docs/internals/decision-map.md': '| [0048](../guide.md) | `tools/run.ts` | `x.test.ts` |\n',
  };
  assert.equal(run(plant(t, decisions)).status, 0);
  const broken = run(plant(t, { ...decisions, 'CONTRIBUTING.md': '[x](gone.md)' }));
  assert.equal(broken.status, 1);
  assert.match(String(broken.stdout), /FAIL CONTRIBUTING\.md:1 .*\nlinks: 6 pages, .* 1 broken\n$/);
  const unmapped = run(plant(t, { ...decisions, 'docs/internals/decision-map.md': '' }));
  assert.equal(unmapped.status, 1);
  const empty = mkdtempSync(path.join(tmpdir(), 'links-'));
  t.after(() => rmSync(empty, { recursive: true }));
  assert.equal(run(empty).status, 1);
});
