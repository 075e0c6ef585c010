// Proves that a site is built from pages as they are, that each kind of dead link stops it, and that
// nothing on a page can become markup or a request of its own.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { buildSite, type Site } from './build.ts';
import { highlight } from './highlight.ts';
import { writeSite } from './write.ts';

const TREE: Readonly<Record<string, string>> = {
  'docs/index.md': [
    '# Home',
    '## Start',
    '| You want | Read |',
    '|---|---|',
    '| a tour | [the tour](tour.md#first-steps), [deploy](../deploy/README.md) |',
    '## Change',
    '- [internals](internals/index.md)',
    '',
    'See [the tour](tour.md) in running text.',
  ].join('\n'),
  'docs/tour.md': [
    '# Tour',
    '<!-- Generated: by nobody -->',
    '## First steps',
    'A <b>tag</b> & more, engine §15.2, [source](../tools/x.ts#L3), ![map](img/map.svg).',
    '## First steps',
    'Future: later.',
    '```sh run',
    "echo '<x>' # said",
    '```',
    '| a | b |',
    '|---|---|',
    '| 1 | 2 |',
  ].join('\n'),
  'docs/internals/index.md': '# Internals\n| Page |\n|---|\n| [one](one.md) |\n',
  'docs/internals/one.md': '# One\n[up](../tour.md#first-steps-1) [out](https://example.org/x)\n',
  'docs/spec/engine.md': '# Engine\n## 15. Parts\n### 15.2 The first part\n',
  'docs/img/map.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'deploy/README.md': '# Deploy\n[home](../docs/index.md)\n',
  'tools/x.ts': 'export const x = 1; // one\n',
};

function plant(t: TestContext, more: Readonly<Record<string, string>> = {}): string {
  const root = mkdtempSync(path.join(tmpdir(), 'site-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [file, text] of Object.entries({ ...TREE, ...more })) {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  return root;
}

function pageOf(site: Site, address: string): string {
  const page = site.pages.find((each) => each.address === address);
  assert.ok(page !== undefined, `no page at ${address}`);
  return page.html;
}

test('pages of docs and what they link to are built, with addresses that work from a disk', (t) => {
  const site = buildSite(plant(t));
  assert.deepEqual(site.problems, []);
  assert.deepEqual(site.pages.map(({ address }) => address).toSorted(), [
    'index.html',
    'internals/index.html',
    'internals/one.html',
    'repository/deploy/README.html',
    'repository/tools/x.ts.html',
    'spec/engine.html',
    'tour.html',
  ]);
  const one = pageOf(site, 'internals/one.html');
  assert.match(one, /href="\.\.\/tour\.html#first-steps-1"/);
  assert.match(one, /href="\.\.\/assets\/site\.css"/);
  assert.match(one, /href="https:\/\/example\.org\/x"/);
  assert.deepEqual([...site.images], [['docs/img/map.svg', 'img/map.svg']]);
});

test('raw HTML stays text, comments of generators are gone, citations lead to the specification', (t) => {
  const tour = pageOf(buildSite(plant(t)), 'tour.html');
  assert.match(tour, /A &lt;b&gt;tag&lt;\/b&gt; &amp; more/);
  assert.doesNotMatch(tour, /by nobody/);
  assert.match(
    tour,
    /<a href="spec\/engine\.html#152-the-first-part" class="cited">engine §15\.2<\/a>/,
  );
  assert.match(tour, /<p class="future">/);
  assert.match(tour, /<div class="table" tabindex="0"><table>/);
  assert.match(tour, /<code class="language-sh">.*<span class="t-comment"># said<\/span>/);
  assert.match(tour, /default-src 'none'/);
});

test('groups of the landing page are the navigation, and a folder opens with its pages', (t) => {
  const site = buildSite(plant(t));
  const nav = (address: string): string =>
    /<nav[\s\S]*<\/nav>/.exec(pageOf(site, address))?.[0] ?? '';
  const labels = (text: string): string[] =>
    [...text.matchAll(/<(?:h2|a)[^>]*>([^<]+)</g)].map(([, label = '']) => label);
  assert.deepEqual(labels(nav('tour.html')), [
    'Start',
    'The tour',
    'Deploy',
    'Change',
    'Internals',
  ]);
  const inside = nav('internals/one.html');
  assert.deepEqual(labels(inside).slice(-2), ['Internals', 'One']);
  assert.match(inside, /href="one\.html" aria-current="page"/);
});

test('the search finds sections by their words, each word once', (t) => {
  const { searchIndex } = buildSite(plant(t));
  const json = /^globalThis\.bigfleetSearchIndex = (.*);$/m.exec(searchIndex)?.[1] ?? '[]';
  const entries = JSON.parse(json) as readonly (readonly string[])[];
  const first = entries.find(([address]) => address === 'tour.html#first-steps');
  assert.deepEqual(first?.slice(1, 3), ['Tour', 'First steps']);
  assert.match(first?.[3] ?? '', /\bengine\b/);
});

const dead: readonly (readonly [what: string, link: string, problem: RegExp])[] = [
  [
    'a missing page',
    '[x](none.md)',
    /docs\/bad\.md links to none\.md: there is no page of docs\/none\.md/,
  ],
  ['a missing heading', '[x](tour.md#none)', /docs\/tour\.md has no heading #none/],
  ['a missing heading here', '[x](#none)', /docs\/bad\.md has no heading #none/],
  ['a missing image', '![x](img/none.svg)', /there is no such image/],
  ['a page outside', '[x](../../out.md)', /there is no page of \.\.\/out\.md/],
];

for (const [what, link, problem] of dead) {
  test(`${what} is a problem of the build`, (t) => {
    const { problems } = buildSite(plant(t, { 'docs/bad.md': `# Bad\n${link}\n` }));
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', problem);
  });
}

test('what is written is the whole site, with the playground when it was built', (t) => {
  const root = plant(t, { 'packages/dashboard/dist/playground/index.html': 'play' });
  const out = path.join(root, '.cache/site');
  writeSite(buildSite(root), out);
  writeFileSync(path.join(out, 'left-over.html'), '');
  writeSite(buildSite(root), out);
  const has = (file: string): boolean => existsSync(path.join(out, file));
  assert.deepEqual(
    ['index.html', 'img/map.svg', 'assets/site.js', 'assets/search-index.js', 'left-over.html'].map(
      has,
    ),
    [true, true, true, true, false],
  );
  assert.equal(readFileSync(path.join(out, 'playground/index.html'), 'utf8'), 'play');
  assert.match(readFileSync(path.join(out, 'tour.html'), 'utf8'), /href="playground\/index\.html"/);
});

test('the command builds this repository, and writes nothing when there is no start', (t) => {
  const main = path.join(import.meta.dirname, 'main.ts');
  const out = mkdtempSync(path.join(tmpdir(), 'site-out-'));
  t.after(() => rmSync(out, { recursive: true, force: true }));
  const { status, stdout } = spawnSync(process.execPath, [main, out], { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
  assert.match(stdout, /^site: \d+ pages, \d+ internal links, 0 broken; open /m);
  const root = plant(t);
  rmSync(path.join(root, 'docs/index.md'));
  assert.throws(() => buildSite(root), /docs\/index\.md is missing/);
});

test('code is coloured and stays what it was', () => {
  const shown = highlight('kubectl get pods --all # "all"\n', 'sh');
  assert.match(shown, /<span class="t-name">--all<\/span>/);
  assert.match(shown, /<span class="t-comment"># &quot;all&quot;<\/span>/);
  assert.equal(highlight('a < b && c', 'unknown'), 'a &lt; b &amp;&amp; c');
  const plain = shown.replace(/<[^>]+>/g, '').replaceAll('&quot;', '"');
  assert.equal(plain, 'kubectl get pods --all # "all"\n');
});
