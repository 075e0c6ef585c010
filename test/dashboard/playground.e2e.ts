// Proves that the playground is the product in a tab: static files, no network, the dashboard's own pages over
// the real engine in a worker. Every scenario runs to its stated end with the actions that Node decides.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipReason } from '../browser/chromium.ts';
import { eventually } from '../toolkit/index.ts';
import { headlessRuns } from './headless-runs.ts';
import { PlaygroundPanel, servePlayground } from './served-playground.ts';
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
/** Of the living fleet: four clusters are served, machines come and go. */
const BUSY_CYCLE = 90;

describe('the playground', { skip }, () => {
  const closing = new AsyncDisposableStack();
  let origin = '';
  let tab: DashboardTab;
  let page: Page;
  let panel: PlaygroundPanel;

  before(async () => {
    ({ origin } = closing.use(await servePlayground()));
    tab = closing.use(await openDashboard(`${origin}/`));
    ({ page } = tab);
    panel = new PlaygroundPanel(page);
    await panel.scenario.waitFor();
  });
  after(() => closing.disposeAsync());

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
      await panel.titles(),
      expected.map(({ title }) => title),
    );
    for (const { title, chain: hash } of expected) {
      await panel.choose(title);
      await panel.toTheEnd();
      await panel.region.getByText('reached', { exact: true }).waitFor();
      assert.equal(await panel.chain(), hash, `${title}: the browser decides what Node decides`);
    }
    assertNoProblems(tab, 'scenarios');
  });

  test('sliders act, and the end is only promised for the sliders as written', async () => {
    const first = (await panel.titles())[0] ?? '';
    await panel.choose(first);
    await panel.region.getByRole('button', { name: 'Sliders' }).click();
    const spot = panel.region.getByRole('slider', { name: /^Spot price/ });
    await spot.focus();
    const asWritten = await panel.chain();
    await spot.press('End');
    await eventually(async () => /Spot price 8/.test(await panel.region.innerText()), {
      what: 'the price moves',
    });
    const clusters = panel.region.getByRole('slider', { name: /^Clusters/ });
    await clusters.focus();
    await clusters.press('ArrowRight');
    await panel.region.getByRole('button', { name: 'Apply and start again' }).click();
    await panel.toTheEnd();
    assert.notEqual(await panel.chain(), asWritten);
    assertNoProblems(tab, 'sliders');
  });

  test('its pages are clean in both schemes, and say that nothing is real', async () => {
    // Another scenario first: the sliders of one that is chosen again stay as they were turned.
    const [living = '', other = ''] = await panel.titles();
    await panel.choose(other);
    await panel.standAt(living, BUSY_CYCLE);
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
