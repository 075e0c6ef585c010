// Proves that the playground is the product in a tab: static files, no network, the dashboard's own pages over
// the real engine in a worker. Every scenario runs to its stated end with the actions that Node decides.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { skipReason } from '../browser/chromium.ts';
import { eventually } from '../toolkit/index.ts';
import { headlessRuns } from './headless-runs.ts';
import {
  assertNoProblems,
  axeFindings,
  type DashboardTab,
  foreignRequests,
  inScheme,
  openDashboard,
  screenshot,
  settled,
} from './tab.ts';

const skip = skipReason();
const FOLDER = path.join(import.meta.dirname, '../../packages/dashboard/dist/playground');
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Any web server: files of one folder, no rewriting, no headers of its own. */
async function serveFolder(): Promise<AsyncDisposable & { readonly origin: string }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://folder');
    const file = path.join(FOLDER, path.normalize(pathname).replace(/\/$/, '/index.html'));
    readFile(file).then(
      (bytes) => {
        const type = TYPES[path.extname(file)] ?? 'application/octet-stream';
        response.writeHead(200, { 'content-type': type }).end(bytes);
      },
      () => response.writeHead(404).end(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('the playground', { skip }, () => {
  const closing = new AsyncDisposableStack();
  let origin = '';
  let tab: DashboardTab;
  let page: Page;
  let panel: Locator;

  before(async () => {
    ({ origin } = closing.use(await serveFolder()));
    tab = closing.use(await openDashboard(`${origin}/`));
    ({ page } = tab);
    panel = page.getByRole('region', { name: 'Playground' });
    await panel.getByRole('combobox', { name: 'Scenario' }).waitFor();
  });
  after(() => closing.disposeAsync());

  const scenario = (): Locator => panel.getByRole('combobox', { name: 'Scenario' });
  const titles = async (): Promise<readonly string[]> =>
    await scenario().locator('option').allInnerTexts();
  /** The hash over all actions so far, as the page shows it. */
  const chain = async (): Promise<string> => await panel.locator('code').first().innerText();
  const toTheEnd = async (): Promise<void> => {
    const seek = panel.getByRole('slider', { name: /^Cycle / });
    await seek.focus();
    await seek.press('End');
    await panel.getByText(/^(?:not )?reached/).waitFor();
  };

  test('nothing leaves the tab once it is loaded', async () => {
    // Every page loads its part once; after that the network may go.
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    const names = await links.allInnerTexts();
    assert.ok(names.length >= 15);
    for (const name of names) {
      await page
        .getByRole('navigation', { name: 'Pages' })
        .getByRole('link', { name, exact: true })
        .click();
      await settled(page);
    }
    // The browser asks for the icon again whenever the scheme changes; pages never do.
    await page.route('**/*', (route) =>
      route.request().url().endsWith('/favicon.svg') ? route.continue() : route.abort(),
    );
    await page.getByText('Simulated supply: no machine here is real').waitFor();
    assert.deepEqual(foreignRequests(tab, origin), []);
    assertNoProblems(tab, 'all pages of the playground');
  });

  test('every scenario reaches its stated end, with Node’s actions', async () => {
    const expected = headlessRuns();
    assert.deepEqual(
      await titles(),
      expected.map(({ title }) => title),
    );
    for (const { title, chain: hash } of expected) {
      await scenario().selectOption({ label: title });
      await panel.getByText('Stated end:').waitFor();
      await toTheEnd();
      await panel.getByText('reached', { exact: true }).waitFor();
      assert.equal(await chain(), hash, `${title}: the browser decides what Node decides`);
    }
    assertNoProblems(tab, 'scenarios');
  });

  test('sliders act, and the end is only promised for the sliders as written', async () => {
    const first = (await titles())[0] ?? '';
    await scenario().selectOption({ label: first });
    await panel.getByRole('button', { name: 'Sliders' }).click();
    const spot = panel.getByRole('slider', { name: /^Spot price/ });
    await spot.focus();
    const asWritten = await chain();
    await spot.press('End');
    await eventually(async () => /Spot price 8/.test(await panel.innerText()), {
      what: 'the price moves',
    });
    const clusters = panel.getByRole('slider', { name: /^Clusters/ });
    await clusters.focus();
    await clusters.press('ArrowRight');
    await panel.getByRole('button', { name: 'Apply and start again' }).click();
    await toTheEnd();
    assert.notEqual(await chain(), asWritten);
    assertNoProblems(tab, 'sliders');
  });

  test('its pages are clean in both schemes, and say that nothing is real', async () => {
    const findings: string[] = [];
    for (const name of ['Now', 'Fleet map', 'Decisions', 'Cost and risk', 'Shortfall triage']) {
      await page
        .getByRole('navigation', { name: 'Pages' })
        .getByRole('link', { name, exact: true })
        .click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await page.getByText('Simulated supply: no machine here is real').waitFor();
      for (const scheme of ['light', 'dark'] as const) {
        await inScheme(page, scheme);
        await settled(page);
        const file = name.toLowerCase().replaceAll(' ', '-');
        await screenshot(page, `playground-${file}-${scheme}`);
        for (const finding of await axeFindings(page))
          findings.push(`${name} ${scheme}: ${finding}`);
      }
    }
    assert.deepEqual(findings, []);
    assertNoProblems(tab, 'pages of the playground');
  });
});
