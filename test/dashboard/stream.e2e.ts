// Proves that an open page survives what happens to its stream: cut off, fallen silent, its server replaced,
// its tab frozen. It says that it is stale, comes back by itself, and has every event once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipReason } from '../browser/chromium.ts';
import { eventually, http, leasePort, sleep, startFaultProxy, unixMs } from '../toolkit/index.ts';
import { type SyntheticDashboard, startSynthetic } from './synthetic-dashboard.ts';
import { assertNoProblems, assertUnbroken, openDashboard, streamed, untilShown } from './tab.ts';

const skip = skipReason();

interface Ticker {
  readonly frame: { readonly atMs: number };
  readonly dollarsPerHour: number;
  readonly decisions: readonly { readonly id: string }[];
}

const status = (page: Page) => page.getByRole('status', { name: 'State of what is shown' });

/** What stands in the page's list of newest decisions, newest first: the ids in its links to records. */
async function tickerIds(page: Page): Promise<readonly string[]> {
  const links = page.getByRole('list', { name: 'Newest decisions' }).getByRole('link', {
    name: /^Record of this/,
  });
  const hrefs = await links.evaluateAll((found) =>
    found.map((link) => (link as unknown as { readonly href: string }).href),
  );
  return hrefs.map((href) => new URL(href).searchParams.get('open') ?? '');
}

/** The page shows what the server says now. */
async function assertCurrent(page: Page, dashboard: SyntheticDashboard): Promise<void> {
  const now = await dashboard.ask<Ticker>('now');
  await untilShown(page, 'now', now.frame.atMs);
  const dollars = now.dollarsPerHour.toLocaleString('en-US', {
    style: 'currency',
    currency: 'USD',
  });
  await page.getByText(`${dollars}/h`, { exact: true }).first().waitFor();
  const expected = now.decisions.map(({ id }) => id);
  // Events of a burst are put into the list together, a moment later.
  const isSame = async (): Promise<boolean> => {
    const shown = await tickerIds(page);
    assert.deepEqual(shown, expected.slice(0, Math.max(1, shown.length)));
    return true;
  };
  await eventually(isSame, { what: 'the list of decisions is the server’s' });
}

/** Streams that the server has open. */
async function streamCount(dashboard: SyntheticDashboard): Promise<number> {
  const { body } = await http({ url: `${dashboard.url}/metrics` });
  return Number(/^bigfleet_dashboard_streams (\d+)$/m.exec(body)?.[1]);
}

function steps(dashboard: SyntheticDashboard, count: number): void {
  for (let step = 0; step < count; step += 1) dashboard.step();
}

test('a stream that is cut off is marked stale and goes on where it was', { skip }, async () => {
  await using dashboard = await startSynthetic();
  await using proxy = await startFaultProxy({ targetPort: dashboard.port });
  await using tab = await openDashboard(`http://127.0.0.1:${proxy.port}/`);
  const { page } = tab;
  await status(page).getByText('Live').waitFor();
  steps(dashboard, 5);
  await assertCurrent(page, dashboard);
  const before = await assertUnbroken(page);

  proxy.refuse();
  proxy.reset();
  await status(page).getByText('Stale: reconnecting').waitFor();
  steps(dashboard, 5);
  await proxy.accept();
  await status(page).getByText('Live').waitFor();
  steps(dashboard, 2);
  await assertCurrent(page, dashboard);

  const after = await assertUnbroken(page);
  assert.ok(after.count >= before.count + 7 * dashboard.shardCount, 'cycles of the gap came too');
  const resets = (await streamed(page)).filter(({ name }) => name === 'reset');
  assert.deepEqual(resets, [], 'the gap was bridged, not begun anew');
  // A refused connection is what the browser itself prints an error about.
  const own = tab.problems.filter(
    (problem) => !/net::ERR_CONNECTION_(?:REFUSED|RESET)/.test(problem),
  );
  assert.deepEqual(own, []);
});

test('a stream that falls silent is marked stale and goes on when it is heard again', {
  skip,
}, async () => {
  await using dashboard = await startSynthetic();
  await using proxy = await startFaultProxy({ targetPort: dashboard.port });
  await using tab = await openDashboard(`http://127.0.0.1:${proxy.port}/`);
  const { page } = tab;
  await status(page).getByText('Live').waitFor();
  steps(dashboard, 3);
  await assertCurrent(page, dashboard);
  // No reset, no end: the network only stopped to carry anything.
  proxy.fault('both', { silent: true });
  steps(dashboard, 3);
  await status(page).getByText('Stale: reconnecting').waitFor();
  await proxy.heal();
  await status(page).getByText('Live').waitFor();
  steps(dashboard, 1);
  await assertCurrent(page, dashboard);
  await assertUnbroken(page);
  assertNoProblems(tab, 'silence is no error of the page');
});

test('a stream that stays silent is given up for a new one, and each event comes once', {
  skip,
}, async () => {
  await using dashboard = await startSynthetic();
  await using proxy = await startFaultProxy({ targetPort: dashboard.port });
  await using tab = await openDashboard(`http://127.0.0.1:${proxy.port}/`);
  const { page } = tab;
  await status(page).getByText('Live').waitFor();
  steps(dashboard, 3);
  await assertCurrent(page, dashboard);
  const before = await assertUnbroken(page);
  const opened = tab.requests.filter((url) => url.includes('/api/v1/stream')).length;
  // A router forgot the connection: neither side is told, and nothing ever heals it.
  proxy.strand();
  steps(dashboard, 5);
  await status(page).getByText('Stale: reconnecting').waitFor();
  await status(page).getByText('Live').waitFor();
  steps(dashboard, 2);
  await assertCurrent(page, dashboard);

  const again = tab.requests.filter((url) => url.includes('/api/v1/stream'));
  assert.ok(again.length > opened, 'another stream was opened');
  assert.match(again.at(-1) ?? '', /[?&]after=/, 'from the event that was seen last');
  assert.equal(await streamCount(dashboard), 2, 'the server still tells the silent one');
  const after = await assertUnbroken(page);
  assert.ok(after.count >= before.count + 7 * dashboard.shardCount, 'cycles of the gap came too');
  const resets = (await streamed(page)).filter(({ name }) => name === 'reset');
  assert.deepEqual(resets, [], 'the gap was bridged, not begun anew');
  assertNoProblems(tab, 'silence is no error of the page');
});

test('a dashboard that restarts is followed anew, with its own picture', { skip }, async () => {
  await using lease = await leasePort();
  const { port } = lease;
  await using first = await startSynthetic({ port });
  await using tab = await openDashboard(first.url);
  const { page } = tab;
  await status(page).getByText('Live').waitFor();
  steps(first, 4);
  await assertCurrent(page, first);
  const old = await tickerIds(page);
  await first[Symbol.asyncDispose]();
  await status(page).getByText('Stale: reconnecting').waitFor();

  const size = { shards: 3, clusters: 5, machines: 700, needsPerShard: 20, seed: 'another fleet' };
  await using second = await startSynthetic({ port, size });
  await status(page).getByText('Live').waitFor();
  steps(second, 4);
  await assertCurrent(page, second);
  const resets = (await streamed(page)).filter(({ name }) => name === 'reset');
  assert.equal(resets.length, 1, 'told once that events of before are gone');
  const shown = new Set(await tickerIds(page));
  const known = await second.ask<{ readonly decisions: readonly { readonly id: string }[] }>(
    'decisions?limit=5000',
  );
  const own = new Set(known.decisions.map(({ id }) => id));
  for (const id of shown) assert.ok(own.has(id), `${id} is a decision of the new process`);
  assert.ok(old.length > 0);
});

test('a tab that stood still comes back with the right picture', { skip }, async () => {
  await using dashboard = await startSynthetic();
  await using tab = await openDashboard(dashboard.url);
  const { page } = tab;
  await status(page).getByText('Live').waitFor();
  steps(dashboard, 2);
  await assertCurrent(page, dashboard);
  // Chromium freezes hidden pages only, and a page without a window is never hidden: what stops here is all
  // of its JavaScript, while its sockets go on.
  const session = await page.context().newCDPSession(page);
  await session.send('Debugger.enable');
  await session.send('Debugger.pause');
  steps(dashboard, 40);
  // As long as a page that hears nothing takes to give its stream up, and longer.
  await sleep(12_000);
  steps(dashboard, 1);
  const awokenMs = unixMs();
  await session.send('Debugger.disable');
  await status(page).getByText('Live').waitFor();
  steps(dashboard, 1);
  await assertCurrent(page, dashboard);
  await assertUnbroken(page);
  const seen = await streamed(page);
  const sleptThrough = seen.filter(({ atMs, seenMs }) => atMs > 0 && seenMs - atMs > 10_000);
  assert.ok(sleptThrough.length >= 80, 'it stood still');
  assert.ok(seen.some(({ seenMs }) => seenMs >= awokenMs));
  assertNoProblems(tab, 'a pause is no error');
});

test('a page that was left holds no stream', { skip }, async () => {
  await using dashboard = await startSynthetic();
  await using tab = await openDashboard(dashboard.url);
  const { page } = tab;
  // A browser opens six connections to one place and keeps pages that were left for the way back.
  const pages = ['/map', '/cost', '/machines', '/shards', '/clusters', '/needs', '/triage', '/'];
  for (const address of pages) {
    await page.goto(`${dashboard.url}${address}`);
    await status(page).getByText('Live').waitFor();
  }
  await eventually(async () => (await streamCount(dashboard)) === 1, {
    what: 'one page, one stream',
  });
  assertNoProblems(tab, 'from page to page');
});
