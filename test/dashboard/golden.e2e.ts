// Proves that pages look as they did when a person last looked: the playground at one cycle of one scenario, in
// light and dark, against the pictures under golden/. And that the comparison is worth something: it sees a panel
// that is gone, a colour that changed and a column that moved, and does not see text that moved by half a pixel.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipReason } from '../browser/chromium.ts';
import { eventually } from '../toolkit/index.ts';
import { checkGolden, comparePictures, goldenOf, IS_WRITING, isDifferent } from './pictures.ts';
import { PlaygroundPanel, servePlayground } from './served-playground.ts';
import {
  assertNoProblems,
  type DashboardTab,
  inScheme,
  keepPicture,
  openDashboard,
  openElsewhere,
  settled,
} from './tab.ts';

const skip = skipReason();
const SCENARIO = 'Sandbox: a living fleet';
const CYCLE = 90;
const PAGES = [
  'Now',
  'Fleet map',
  'Decisions',
  'Cost and risk',
  'Shortfall triage',
  'Machine lifecycle',
] as const;

function fileOf(name: string, scheme: string): string {
  return `${name.toLowerCase().replaceAll(' ', '-')}-${scheme}`;
}

describe('golden pictures', { skip }, () => {
  const closing = new AsyncDisposableStack();
  let tab: DashboardTab;
  let page: Page;
  let blank: Page;

  before(async () => {
    const { origin } = closing.use(await servePlayground());
    tab = closing.use(await openDashboard('about:blank'));
    ({ page } = tab);
    ({ page: blank } = closing.use(await openElsewhere(tab, 'about:blank')));
    // Clocks on the pages are the reader's.
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setTimezoneOverride', { timezoneId: 'UTC' });
    await page.goto(`${origin}/`);
    const panel = new PlaygroundPanel(page);
    await panel.scenario.waitFor();
    await panel.standAt(SCENARIO, CYCLE);
  });
  after(() => closing.disposeAsync());

  const open = async (name: string): Promise<void> => {
    const links = page.getByRole('navigation', { name: 'Pages' });
    await links.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await eventually(async () => (await page.locator('.loading, [aria-busy=true]').count()) === 0, {
      what: `${name} has loaded`,
    });
    // The link keeps the focus and the pointer stands on it.
    await page.mouse.move(0, 0);
    await page.evaluate('document.activeElement?.blur()');
  };
  /** Taken again until two in a row are the same: what is loaded late is drawn late. */
  const picture = async (): Promise<Buffer> => {
    let last: Buffer | undefined;
    return await eventually(
      async () => {
        await page.evaluate('document.fonts.ready.then(() => true)');
        await settled(page);
        // The time line is asked for what it marks a while after the page, by the clock.
        const mask = [page.getByRole('contentinfo')];
        const next = await page.screenshot({ animations: 'disabled', caret: 'hide', mask });
        const isStill = last?.equals(next) === true;
        last = next;
        return isStill ? next : undefined;
      },
      { what: 'the page stands still' },
    );
  };

  const differences = async (): Promise<readonly string[]> => {
    const different: string[] = [];
    for (const name of PAGES) {
      await open(name);
      for (const scheme of ['light', 'dark'] as const) {
        await inScheme(page, scheme);
        const found = await checkGolden(blank, fileOf(name, scheme), await picture());
        if (found !== undefined) different.push(found);
      }
    }
    return different;
  };

  test('every page looks as it did', async () => {
    assert.deepEqual(await differences(), []);
    assertNoProblems(tab, 'pages of the playground');
  });

  const isWriting = IS_WRITING && 'pictures are written, not compared';
  test('a page looks the same after all others were opened', { skip: isWriting }, async () => {
    // The style of a page comes with it and stays: one that means another page too shows only now.
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    for (const link of await links.all()) {
      await link.click();
      await settled(page);
    }
    assert.deepEqual(await differences(), []);
  });

  const planted: readonly {
    readonly what: string;
    readonly name: (typeof PAGES)[number];
    readonly css: string;
    readonly isSeen: boolean;
  }[] = [
    {
      what: 'a panel that is gone',
      name: 'Cost and risk',
      css: 'main section:nth-of-type(2) { visibility: hidden }',
      isSeen: true,
    },
    {
      what: 'another colour of a state',
      name: 'Fleet map',
      css: ':root, :root * { --state-idle: #7a5fd0 !important }',
      isSeen: true,
    },
    {
      what: 'a column that moved by 20 px',
      name: 'Decisions',
      css: '[role=row] > :nth-child(3) { transform: translateX(20px) }',
      isSeen: true,
    },
    {
      what: 'text that runs out of its box',
      name: 'Now',
      css: 'main h2, main p, main dt, main dd { letter-spacing: 3px; white-space: nowrap }',
      isSeen: true,
    },
    {
      what: 'text that is drawn half a pixel further',
      name: 'Now',
      css: 'main h1, main h2, main p, main li, main dt { transform: translate(0.5px, 0.5px) }',
      isSeen: false,
    },
    {
      what: 'text without hinting',
      name: 'Decisions',
      css: '* { text-rendering: geometricPrecision !important }',
      isSeen: false,
    },
  ];

  for (const { what, name, css, isSeen } of planted) {
    test(`${what} ${isSeen ? 'is seen' : 'is not taken for a change'}`, async (t) => {
      for (const scheme of ['light', 'dark'] as const) {
        await open(name);
        // Canvases read their colours anew when the scheme changes, and only then.
        await inScheme(page, scheme === 'light' ? 'dark' : 'light');
        await settled(page);
        const style = await page.addStyleTag({ content: css });
        await inScheme(page, scheme);
        await settled(page);
        const found = await comparePictures(blank, await picture(), goldenOf(fileOf(name, scheme)));
        await style.evaluate((element) => (element as unknown as { remove(): void }).remove());
        const told = `${scheme}: ${found.differing} of ${found.tiles} tiles differ`;
        t.diagnostic(told);
        if (isDifferent(found) === isSeen) continue;
        assert.fail(`${told}: ${keepPicture(`planted-${fileOf(what, scheme)}`, found.marked)}`);
      }
    });
  }
});
