// Proves the documentation site in a real Chromium: every page opens without a console error and asks
// for nothing but the site's own files, every internal link and anchor resolves, the search answers from
// a disk as from a server, and pages hold the accessibility rules in light and dark, wide and narrow.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type BrowserTab, openTab, skipReason } from '../browser/chromium.ts';
import { runCommand } from '../template/command.ts';
import { createTempDir, HANG_MS, type TempDir } from '../toolkit/index.ts';
import { type FolderServer, serveFolder } from './folder-server.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const SKIP = { skip: skipReason() };
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');

let folder: TempDir;
let server: FolderServer;
let tab: BrowserTab;
const seen: string[] = [];

before(async () => {
  if (SKIP.skip !== false) return;
  folder = createTempDir('site');
  const out = path.join(folder.path, 'site');
  await runCommand(process.execPath, [path.join(ROOT, 'tools/site/main.ts'), out], {
    cwd: ROOT,
    withinMs: HANG_MS,
  });
  server = await serveFolder(out);
  tab = await openTab('about:blank');
  tab.page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') seen.push(message.text());
  });
  tab.page.on('pageerror', (error) => seen.push(error.message));
  tab.page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(server.url) && !url.startsWith('file:')) seen.push(`asked for ${url}`);
  });
  tab.page.on('response', (response) => {
    if (response.status() >= 400) seen.push(`${response.status()} ${response.url()}`);
  });
});

after(async () => {
  if (SKIP.skip !== false) return;
  await tab[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

interface Seen {
  readonly ids: readonly string[];
  readonly hrefs: readonly string[];
}

test(
  'every page opens cleanly, and every internal link of it leads to an element',
  SKIP,
  async () => {
    const pages = new Map<string, Seen>();
    const waiting = ['index.html'];
    for (let address = waiting.shift(); address !== undefined; address = waiting.shift()) {
      if (pages.has(address)) continue;
      const url = new URL(address, server.url).href;
      await tab.page.goto(url, { timeout: HANG_MS });
      // A text for the browser: this project does not know the types of a document.
      const found: Seen = await tab.page.evaluate<Seen>(`({
      ids: [...document.querySelectorAll('[id]')].map((element) => element.id),
      hrefs: [...document.querySelectorAll('a[href]')].map((link) => link.href),
    })`);
      pages.set(address, found);
      assert.deepEqual(seen, [], address);
      const own = found.hrefs.filter((href) => href.startsWith(server.url));
      waiting.push(...own.map(addressOf).filter((each) => !each.startsWith('playground/')));
    }
    assert.ok(pages.size > 100, `only ${pages.size} pages are reached from the first`);
    const problems: string[] = [];
    for (const [from, { hrefs }] of pages) {
      for (const href of hrefs.filter((each) => each.startsWith(server.url))) {
        const target = pages.get(addressOf(href));
        const fragment = decodeURIComponent(new URL(href).hash.slice(1));
        const isThere = fragment === '' || target?.ids.includes(fragment) === true;
        if (!isThere) problems.push(`${from}: ${href}`);
      }
    }
    assert.deepEqual(problems, []);
  },
);

test('from a disk, a search by keyboard opens the section that it found', SKIP, async () => {
  const { page } = tab;
  await page.goto(pathToFileURL(path.join(server.folder, 'internals/index.html')).href);
  await page.keyboard.press('/');
  await page.keyboard.type('errors by grpc status');
  await page.waitForSelector('#found [role="option"]', { timeout: HANG_MS });
  await Promise.all([
    page.waitForURL(/\.html#/, { timeout: HANG_MS }),
    page.keyboard.press('Enter'),
  ]);
  assert.match(await page.title(), /^Errors and reasons/);
  assert.deepEqual(seen, []);
});

test('from a disk, the link to the playground leads to how it is started', SKIP, async (t) => {
  const { page } = tab;
  await page.goto(pathToFileURL(path.join(server.folder, 'internals/index.html')).href);
  const links = await page.$$('a.playground');
  if (links.length === 0)
    return t.skip('the playground is not built here; make docs builds it first');
  await Promise.all([
    page.waitForURL(/quick-start\.html#the-playground$/, { timeout: HANG_MS }),
    page.click('a.playground'),
  ]);
  assert.equal(await page.isVisible('#the-playground'), true);
});

test('on a narrow screen no page is wider than the window', SKIP, async () => {
  await tab.page.setViewportSize({ width: 390, height: 844 });
  const addresses = globSync('**/*.html', { cwd: server.folder, exclude: ['playground/**'] });
  assert.ok(addresses.length > 100, `only ${addresses.length} pages`);
  const wider: string[] = [];
  for (const address of addresses) {
    await tab.page.goto(new URL(address, server.url).href);
    const [width, windowWidth] = await tab.page.evaluate<readonly [number, number]>(
      '[document.documentElement.scrollWidth, window.innerWidth]',
    );
    if (width > windowWidth) wider.push(`${address}: ${width} in ${windowWidth}`);
  }
  assert.deepEqual(wider, []);
  await tab.page.click('.menu');
  assert.equal(await tab.page.isVisible('#nav a'), true);
  await tab.page.setViewportSize({ width: 1280, height: 900 });
});

const SAMPLES = ['index.html', 'operator-guide.html', 'errors.html', 'provider-author-guide.html'];

for (const colorScheme of ['light', 'dark'] as const) {
  test(`pages hold the accessibility rules when they are ${colorScheme}`, SKIP, async () => {
    await tab.page.emulateMedia({ colorScheme });
    for (const address of SAMPLES) {
      await tab.page.goto(new URL(address, server.url).href);
      await tab.page.evaluate(AXE);
      const violations = await tab.page.evaluate<
        readonly string[]
      >(`axe.run().then(({ violations }) =>
        violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html).join(' ')))`);
      assert.deepEqual(violations, [], address);
    }
  });
}

function addressOf(href: string): string {
  return decodeURI(new URL(href).pathname.slice(1)) || 'index.html';
}
