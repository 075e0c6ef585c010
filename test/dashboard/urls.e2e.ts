// Proves that a URL is the whole picture: a link shows the same to somebody else, a wrong one says what is
// wrong with it, a past moment shows the pixels of that moment, and what a page cannot show for want of a
// source names the flag that supplies it.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipReason } from '../browser/chromium.ts';
import { eventually, unixMs } from '../toolkit/index.ts';
import { startDashboardProcess } from './dashboard-process.ts';
import { differingPixels } from './pictures.ts';
import { startSynthetic, type SyntheticDashboard } from './synthetic-dashboard.ts';
import {
  assertNoProblems,
  canvasPixels,
  type DashboardTab,
  keepPicture,
  openDashboard,
  openElsewhere,
  settled,
  untilShown,
} from './tab.ts';

const skip = skipReason();
/** The machines; what lies above it is pointer and focus. */
const MAP_CANVAS = '.fleet-layer canvas';
const STEP_MS = 10_000;

/** Browsers print an error about every refusal of the API; which ones come is what the test looks at. */
function ownProblems({ problems }: DashboardTab): readonly string[] {
  return problems.filter((problem) => !/Failed to load resource: .* status of 4\d\d/.test(problem));
}

/** Of a browser's element: tests are compiled without its types. */
interface Measured {
  readonly scrollWidth: number;
  readonly clientWidth: number;
}

/** Everything on the page that has a role or a name, in order. */
async function pictureOf(page: Page): Promise<string> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await eventually(async () => (await page.locator('.loading, [aria-busy=true]').count()) === 0, {
    what: 'nothing loads any more',
  });
  await settled(page);
  return await page.getByRole('main').ariaSnapshot();
}

describe('links', { skip }, () => {
  let dashboard: SyntheticDashboard;
  let tab: DashboardTab;
  let page: Page;
  /** Of the last cycle: nothing moves any more. */
  let lastMs = 0;

  before(async () => {
    lastMs = unixMs() - STEP_MS;
    const beginMs = lastMs - 30 * STEP_MS;
    dashboard = await startSynthetic({ beginMs });
    for (let step = 1; step <= 30; step += 1) dashboard.step(beginMs + step * STEP_MS);
    tab = await openDashboard(dashboard.url);
    ({ page } = tab);
  });
  after(async () => {
    await tab[Symbol.asyncDispose]();
    await dashboard[Symbol.asyncDispose]();
  });

  /** The URL in a new context, and the same picture there. */
  const assertShared = async (): Promise<void> => {
    await using other = await openElsewhere(tab, page.url());
    // Nothing moves any more, but either page may still be on its way.
    const isSame = async (): Promise<true> => {
      assert.equal(await pictureOf(other.page), await pictureOf(page));
      return true;
    };
    await eventually(isSame, { what: `the same picture elsewhere: ${page.url()}` });
    assert.equal(other.page.url(), page.url());
    assertNoProblems(other, page.url());
  };

  test('filters, choices, an open record and the moment travel in a link', async () => {
    const at = lastMs - 5 * STEP_MS;
    await page.goto(`${dashboard.url}/decisions?at=${at}`);
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('Bootstrap');
    await page.waitForURL(/kind=Bootstrap/);
    const grid = page.getByRole('grid', { name: 'Decisions' });
    await grid.getByRole('row').nth(2).getByText('Bootstrap').click();
    await page.waitForURL(/open=/);
    await page.getByRole('complementary', { name: /^Record of cycle/ }).waitFor();
    await assertShared();
    assert.match(page.url(), new RegExp(`at=${at}`));

    await page.goto(`${dashboard.url}/map?at=${at}`);
    await page.getByRole('radiogroup', { name: 'Group by' }).getByText('Cluster').click();
    await page.getByRole('radiogroup', { name: 'Colour by' }).getByText('Cost').click();
    await page.getByRole('combobox', { name: 'Capacity' }).selectOption('Spot');
    await page.getByRole('button', { name: 'Table' }).click();
    await page.waitForURL(/table=1/);
    await assertShared();
    for (const part of ['by=cluster', 'colour=cost', 'capacity=Spot']) {
      assert.ok(page.url().includes(part), page.url());
    }
    assertNoProblems(tab, 'decisions and map');
  });

  test('every page at a past moment is the same for everybody', async () => {
    const at = lastMs - 3 * STEP_MS;
    const pages = [
      '/',
      '/cost?capacity=Spot&table=1',
      '/cost?team=Checkout',
      '/triage',
      '/triage?branch=phantom-capacity',
      '/lifecycle?table=1',
      '/providers',
      '/clusters?order=dollars&down=1',
      '/shards?shard=shard-001&order=p99&down=1',
      '/machines?state=Idle&sort=cost',
      '/machines?team=ML%20platform',
      '/needs?unmet=1',
      `/compare?with=${lastMs - 20 * STEP_MS}`,
    ];
    for (const address of pages) {
      const url = `${dashboard.url}${address}`;
      await page.goto(`${url}${url.includes('?') ? '&' : '?'}at=${at}`);
      await page.getByText('Past').first().waitFor();
      await assertShared();
    }
    assertNoProblems(tab, 'all pages');
  });

  test('a shard that is chosen shows its cycle by phase, and a team its machines alone', async () => {
    await page.goto(`${dashboard.url}/shards`);
    const shards = page.getByRole('grid', { name: 'Shards', exact: true });
    await shards.getByRole('row').filter({ hasText: 'shard-001' }).getByText('live').click();
    await page.waitForURL(/shard=shard-001/);
    const phases = page.getByRole('grid', { name: 'Phases of shard-001' });
    await phases.getByRole('row').filter({ hasText: 'the whole cycle' }).waitFor();
    const hidden = await shards.evaluate((grid) => {
      const { scrollWidth, clientWidth } = grid as unknown as Measured;
      return scrollWidth - clientWidth;
    });
    assert.equal(hidden, 0, 'every column is seen without scrolling');
    await page.goto(`${dashboard.url}/cost`);
    const teams = page.getByRole('list', { name: 'By team' });
    await teams.getByText('no team').waitFor();
    await teams.getByRole('link', { name: 'Checkout' }).click();
    await page.waitForURL(/team=Checkout/);
    assert.equal(await page.getByRole('searchbox', { name: 'Team' }).inputValue(), 'Checkout');
    const clusters = page.getByRole('list', { name: 'By cluster' });
    await eventually(async () => (await clusters.getByRole('listitem').count()) === 1, {
      what: 'only the clusters of the team are left',
    });
    assertNoProblems(tab, 'shards and cost');
  });

  test('a wrong parameter is named with what it may be, and the way back works', async () => {
    const wrong: readonly (readonly [address: string, named: RegExp, hint: RegExp])[] = [
      ['/map?by=banana', /by=banana/, /place, cluster, provider/],
      ['/map?nonsense=1', /nonsense=1/, /no such parameter/],
      ['/decisions?at=yesterday', /at=yesterday/, /milliseconds since 1970/],
      ['/machines?limit=100000', /limit=100000/, /a whole number from 1 to 5000/],
      ['/cost?table=maybe', /table=maybe/, /0 or 1/],
    ];
    for (const [address, named, hint] of wrong) {
      await page.goto(`${dashboard.url}${address}`);
      await page
        .getByRole('heading', { level: 1, name: 'This link has a mistake in it' })
        .waitFor();
      const item = page.getByRole('main').getByRole('listitem').filter({ hasText: named });
      assert.match(await item.innerText(), hint);
      await page.getByRole('link', { name: /^Open “.*” without parameters$/ }).click();
      await eventually(() => new URL(page.url()).search === '', {
        what: 'the parameters are gone',
      });
      const title = page.getByRole('heading', { level: 1 });
      await eventually(async () => !(await title.innerText()).includes('mistake'), {
        what: `${address} leads back to its page`,
      });
    }
    assertNoProblems(tab, 'wrong parameters are no errors');
  });

  test('a page that is not there lists those that are', async () => {
    await page.goto(`${dashboard.url}/nowhere`);
    await page.getByRole('heading', { level: 1, name: 'There is no page here' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Fleet map' }).click();
    await page.getByRole('heading', { level: 1, name: 'Fleet map' }).waitFor();
    assert.deepEqual(ownProblems(tab), []);
  });

  test('what the server refuses is said with its code, and the page stays usable', async () => {
    const refused: readonly (readonly [address: string, code: string])[] = [
      ['/explain?machine=nobody', 'machine_not_found'],
      ['/explain?cluster=nobody&fingerprint=f', 'need_not_found'],
      ['/?at=1000', 'moment_not_kept'],
      ['/decisions?open=nothing', 'parameter_invalid'],
      ['/decisions?open=shard-9/1/1/0', 'record_not_found'],
    ];
    for (const [address, code] of refused) {
      await page.goto(`${dashboard.url}${address}`);
      const alert = page.getByRole('alert').filter({ hasText: code });
      await alert.first().waitFor();
      const text = await alert.first().innerText();
      assert.ok(text.replace(/code \S+/, '').trim().length > 10, `${address}: ${text}`);
      await page.getByRole('navigation', { name: 'Pages' }).getByText('Shards').click();
      await page.getByRole('heading', { level: 1, name: 'Shards' }).waitFor();
    }
    assert.deepEqual(ownProblems(tab), []);
  });
});

test('a moment of before has the pixels that it had', { skip }, async () => {
  const beginMs = unixMs() - 100 * STEP_MS;
  await using dashboard = await startSynthetic({ beginMs });
  await using tab = await openDashboard(`${dashboard.url}/map`);
  const { page } = tab;
  let atMs = beginMs;
  const liveSteps = async (count: number): Promise<string> => {
    for (let step = 0; step < count; step += 1) dashboard.step((atMs += STEP_MS));
    await untilShown(page, 'map', atMs);
    return await canvasPixels(page, MAP_CANVAS);
  };
  await liveSteps(5);
  const then = await liveSteps(1);
  const thenMs = atMs;
  const later = await liveSteps(20);
  assert.notEqual(later, then, 'the fleet has moved on');
  const last = await liveSteps(20);

  const isThenAt = async (url: string, what: string): Promise<void> => {
    await page.goto(url);
    await page.getByRole('status', { name: 'State of what is shown' }).getByText('Past').waitFor();
    const isThen = async (): Promise<boolean> => {
      await pictureOf(page);
      return (await canvasPixels(page, MAP_CANVAS)) === then;
    };
    await eventually(isThen, { what });
  };
  await isThenAt(`${dashboard.url}/map?at=${thenMs}`, 'the pixels of then');
  const justBefore = `${dashboard.url}/map?at=${thenMs + STEP_MS - 1}`;
  await isThenAt(justBefore, 'the same until the next cycle: nothing changes');

  // By hand: from the moment a minute forward on the time line, and to its end, which is now.
  const slider = page.getByRole('slider', { name: 'Moment shown' });
  await slider.focus();
  const pixels = (): Promise<string> => canvasPixels(page, MAP_CANVAS);
  await slider.press('PageUp');
  await page.waitForURL(new RegExp(`at=${thenMs + STEP_MS - 1 + 60_000}`));
  const next = async (): Promise<boolean> => (await pixels()) !== then;
  await eventually(next, { what: 'a minute later it is another picture' });
  await slider.press('PageDown');
  await page.waitForURL(new RegExp(`at=${thenMs + STEP_MS - 1}`));
  await eventually(async () => (await pixels()) === then, { what: 'and back' });
  await slider.press('End');
  await eventually(() => !page.url().includes('at='), { what: 'the end of the line is live' });
  await eventually(async () => (await pixels()) === last, {
    what: 'live again, the newest picture',
  });
  assertNoProblems(tab, 'time line');
});

test('a past moment is the live page of that moment, pixel by pixel', { skip }, async () => {
  const beginMs = unixMs() - 3_600_000;
  let nowMs = beginMs;
  await using dashboard = await startSynthetic({ beginMs, nowMs: () => nowMs });
  await using tab = await openDashboard(dashboard.url);
  const { page } = tab;
  await using other = await openElsewhere(tab, 'about:blank');
  const blank = other.page;
  // Ages are counted from the server's time and go on with the page's clock: both stand still here.
  await page.clock.setFixedTime(beginMs);
  const stepTo = (untilMs: number): void => {
    for (; nowMs < untilMs; ) dashboard.step((nowMs += STEP_MS));
  };
  /** All but navigation, the mark that says live or past, and the time line. */
  const picture = async (): Promise<Buffer> => {
    await pictureOf(page);
    await page.mouse.move(0, 0);
    return await page.getByRole('main').screenshot({ animations: 'disabled' });
  };
  const mark = page.getByRole('status', { name: 'State of what is shown' });
  const thenMs = beginMs + 12 * STEP_MS;
  const pages: readonly (readonly [address: string, view: string])[] = [
    ['/', 'now'],
    ['/map', 'map'],
    ['/map?by=cluster&colour=cluster', 'map'],
  ];
  const live = new Map<string, Buffer>();
  stepTo(thenMs);
  for (const [address, view] of pages) {
    await page.goto(`${dashboard.url}${address}`);
    await mark.getByText('Live').waitFor();
    await untilShown(page, view, thenMs);
    live.set(address, await picture());
  }
  // A minute, so that one key of the time line leads back to the very moment.
  stepTo(thenMs + 60_000);
  for (const [address, view] of pages) {
    const then = live.get(address);
    assert.ok(then !== undefined);
    const isThen = (what: string): Promise<true> =>
      eventually(
        async () => {
          const shown = await picture();
          const count = await differingPixels(blank, shown, then);
          if (count === 0) return true;
          const paths = [keepPicture('past-live', then), keepPicture('past-shown', shown)];
          throw new Error(`${count} pixels differ: ${paths.join(' ')}`);
        },
        { what },
      );
    await page.goto(`${dashboard.url}${address}`);
    await mark.getByText('Live').waitFor();
    await untilShown(page, view, nowMs);
    const moved = await differingPixels(blank, await picture(), then);
    assert.ok(moved > 0, `${address}: the fleet has moved on`);
    await page.getByRole('slider', { name: 'Moment shown' }).press('PageDown');
    await page.waitForURL(new RegExp(`at=${thenMs}\\b`));
    await mark.getByText('Past').waitFor();
    await isThen(`${address} by the key of the time line`);
    await page.goto('about:blank');
    const link = `${dashboard.url}${address}${address.includes('?') ? '&' : '?'}at=${thenMs}`;
    await page.goto(link);
    await mark.getByText('Past').waitFor();
    await isThen(`${address} by its link`);
  }
  assertNoProblems(tab, 'past');
});

test('without any source each page says which flag to set, and nothing breaks', {
  skip,
}, async () => {
  await using dashboard = await startDashboardProcess();
  await using tab = await openDashboard(dashboard.url);
  const { page } = tab;
  const flags: readonly (readonly [address: string, flag: string])[] = [
    ['/', '--shard'],
    ['/map', '--shard'],
    ['/shards', '--shard'],
    ['/coordinator', '--coordinator'],
    ['/cost', '--team'],
    ['/what-if?set=reserved%3D1', '--records-dir'],
    ['/explain?cluster=a&pod=b/c', '--kubeconfig'],
  ];
  for (const [address, flag] of flags) {
    await page.goto(`${dashboard.url}${address}`);
    await page.getByRole('main').getByText(flag).first().waitFor();
  }
  for (const address of [
    '/decisions',
    '/cost',
    '/triage',
    '/lifecycle',
    '/providers',
    '/clusters',
  ]) {
    await page.goto(`${dashboard.url}${address}`);
    await pictureOf(page);
    assert.equal(await page.getByText('This page has failed').count(), 0, address);
  }
  assert.deepEqual(
    ownProblems(tab).filter((problem) => !/status of 503/.test(problem)),
    [],
  );
});

interface Refusal {
  readonly status: number;
  readonly code: string;
}

async function ask(url: string, method: string, headers: Record<string, string>): Promise<Refusal> {
  const asking = request(url, { method, headers, agent: false });
  asking.end();
  const [response] = (await once(asking, 'response')) as [
    NodeJS.ReadableStream & { statusCode: number },
  ];
  let body = '';
  for await (const chunk of response) body += String(chunk);
  const status = response.statusCode;
  return { status, code: status === 200 ? '' : (JSON.parse(body) as { code: string }).code };
}

test('only GET is answered, and only to this machine’s own name', async () => {
  await using dashboard = await startSynthetic();
  const now = `${dashboard.url}/api/v1/now`;
  assert.deepEqual(await ask(now, 'GET', {}), { status: 200, code: '' });
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const refusal = { status: 405, code: 'method_not_allowed' };
    assert.deepEqual(await ask(now, method, {}), refusal, method);
  }
  const foreign = await ask(now, 'GET', { host: 'rebound.example:8760' });
  assert.deepEqual(foreign, { status: 403, code: 'host_refused' });
});
