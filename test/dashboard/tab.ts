// A page of the dashboard or the playground in a real Chromium, with ears: what it printed as an error, what
// it asked the server for, which events its stream told it, how long its main thread was held up, what axe
// says about it.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { type BrowserTab, openTab } from '../browser/chromium.ts';
import { eventually, HANG_MS } from '../toolkit/index.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);

/** Read as text inside the page, so that it needs none of this file's types there. */
const WATCH_LONG_TASKS = `
  globalThis.__longTasks = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) globalThis.__longTasks.push(entry.duration);
  }).observe({ type: 'longtask', buffered: true });
`;

/**
 * Every event of every stream of the page, in the order in which the browser told them, before the page's
 * own code sees it. Bound: a page of a test lives for minutes.
 */
const WATCH_EVENTS = `
  globalThis.__streamed = [];
  globalThis.EventSource = class extends EventSource {
    constructor(url, options) {
      super(url, options);
      for (const name of ['hello', 'decision', 'cycle', 'reset', 'view']) {
        this.addEventListener(name, (event) => {
          const data = JSON.parse(event.data);
          globalThis.__streamed.push({
            name,
            id: name === 'view' ? '' : event.lastEventId,
            key: data.view ?? data.id ?? '',
            atMs: data.answer?.frame?.atMs ?? data.atMs ?? 0,
            seenMs: Date.now(),
          });
        });
      }
    }
  };
`;

/**
 * When a link to a decision's record first stood in the document, by the decision's id; and when the page had
 * its first figure.
 */
const WATCH_DOCUMENT = `
  globalThis.__appeared = {};
  globalThis.__firstFigureMs = null;
  new MutationObserver((changes) => {
    if (document.querySelector('main .stat-value')) globalThis.__firstFigureMs ??= performance.now();
    for (const { addedNodes } of changes) {
      for (const node of addedNodes) {
        for (const link of node.querySelectorAll?.('a[href*="open="]') ?? []) {
          const id = new URL(link.href).searchParams.get('open');
          globalThis.__appeared[id] ??= Date.now();
        }
      }
    }
  }).observe(document, { subtree: true, childList: true });
`;

export type Scheme = 'light' | 'dark';

/** Of a dashboard's stream, as the browser told it to the page. */
export interface Streamed {
  readonly name: 'hello' | 'decision' | 'cycle' | 'reset' | 'view';
  /** Empty for a view. */
  readonly id: string;
  /** The view's text, the decision's id. */
  readonly key: string;
  /** The moment that it shows or tells. */
  readonly atMs: number;
  /** When the page got it. */
  readonly seenMs: number;
}

export interface DashboardTab extends AsyncDisposable {
  readonly page: Page;
  /** Errors on the console, thrown ones, requests that failed or were anything but GET. */
  readonly problems: string[];
  /** Every request that left the page. */
  readonly requests: string[];
}

export async function openDashboard(url: string): Promise<DashboardTab> {
  await using stack = new AsyncDisposableStack();
  const tab: BrowserTab = stack.use(await openTab('about:blank'));
  const opened = await heard(tab.page, url);
  const owned = stack.move();
  return { ...opened, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The same browser, a new person: no storage, no cache, nothing of the first tab. */
export async function openElsewhere({ page }: DashboardTab, url: string): Promise<DashboardTab> {
  const browser = page.context().browser();
  assert.ok(browser !== null, 'the browser has gone');
  const context: BrowserContext = await browser.newContext();
  const opened = await heard(await context.newPage(), url);
  return { ...opened, [Symbol.asyncDispose]: () => context.close() };
}

async function heard(page: Page, url: string): Promise<Omit<DashboardTab, keyof AsyncDisposable>> {
  page.setDefaultTimeout(HANG_MS);
  await page.setViewportSize({ width: 1440, height: 900 });
  // What moves for its own sake would differ between two pictures of one moment.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.addInitScript(WATCH_LONG_TASKS);
  await page.addInitScript(WATCH_EVENTS);
  await page.addInitScript(WATCH_DOCUMENT);
  const problems: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`thrown: ${error.message}`));
  page.on('request', (request) => {
    requests.push(request.url());
    if (request.method() !== 'GET') problems.push(`${request.method()} ${request.url()}`);
  });
  await page.goto(url);
  return { page, problems, requests };
}

/** Requests that left for another place than the page's own; those of data: and blob: leave for nowhere. */
export function foreignRequests({ requests }: DashboardTab, origin: string): readonly string[] {
  return requests.filter((url) => !/^(?:data|blob):/.test(url) && !url.startsWith(`${origin}/`));
}

/** Everything that the streams of the page have told since it was loaded. */
export async function streamed(page: Page): Promise<readonly Streamed[]> {
  return await page.evaluate<Streamed[]>('globalThis.__streamed');
}

/** The ids of decisions and cycles as the page got them: of one process, each one more than the last. */
export async function assertUnbroken(page: Page): Promise<{ readonly count: number }> {
  const events = (await streamed(page)).filter(
    ({ name }) => name === 'decision' || name === 'cycle',
  );
  const incarnations = new Set(events.map(({ id }) => id.split('.')[0]));
  assert.ok(incarnations.size <= 1, 'all of one process');
  const numbers = events.map(({ id }) => Number(id.split('.')[1]));
  const [first = 0] = numbers;
  assert.deepEqual(
    numbers,
    numbers.map((_, place) => first + place),
    'no event is missing and none comes twice',
  );
  return { count: numbers.length };
}

/** Milliseconds from a decision's cycle to its line in the document, of those that came as events. */
export async function decisionDelays(page: Page): Promise<readonly number[]> {
  const appeared = await page.evaluate<Record<string, number>>('globalThis.__appeared');
  return (await streamed(page))
    .filter(({ name }) => name === 'decision')
    .flatMap(({ key, atMs }) => (appeared[key] === undefined ? [] : [appeared[key] - atMs]));
}

/** From the navigation to the first figure in the document. */
export async function firstFigureMs(page: Page): Promise<number> {
  await page.locator('main .stat-value').first().waitFor();
  return await page.evaluate<number>('globalThis.__firstFigureMs');
}

/** Until the page has been told a view (its name, or its text) of this very moment. */
export async function untilShown(page: Page, view: string, atMs: number): Promise<void> {
  const isShown = (event: Streamed): boolean =>
    event.name === 'view' && event.key.split('?')[0] === view && event.atMs === atMs;
  await eventually(async () => (await streamed(page)).some(isShown), {
    what: `the page is told ${view} of ${atMs}`,
  });
  await settled(page);
}

/** What was told is in the document and on the canvases, in the letters that are meant. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(`document.fonts.ready.then(() => new Promise((done) => {
    let frames = 4;
    const next = () => (frames-- === 0 ? done() : requestAnimationFrame(next));
    next();
  }))`);
}

/** Milliseconds of every long task since the page was loaded. */
export async function longTasks(page: Page): Promise<readonly number[]> {
  return await page.evaluate<number[]>('globalThis.__longTasks');
}

/** Of the JavaScript heap, after a collection, and without the events that this file has kept: those grow. */
export async function heapBytes(page: Page): Promise<number> {
  await page.evaluate('globalThis.__streamed.length = 0');
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}

/** Elements in the document. */
export async function nodeCount(page: Page): Promise<number> {
  return await page.evaluate<number>(`document.querySelectorAll('*').length`);
}

/** Rules that the page breaks, with the first element of each; empty when it breaks none. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource);
  return await page.evaluate<string[]>(`
    axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, help, nodes }) => id + ': ' + help + ' (' + nodes.length + ') ' + nodes[0].html.slice(0, 200)))
  `);
}

/** What can take the focus and has nothing that a screen reader could say; empty when all of it has. */
export async function namelessControls(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  await session.detach();
  return nodes
    .filter(({ ignored, role, name, properties }) => {
      const isFocusable = properties?.some(
        ({ name: property, value }) => property === 'focusable' && value.value === true,
      );
      // The page and its main part take the focus of a link that skips to them: they are no controls.
      const isPart = ['RootWebArea', 'main'].includes(String(role?.value));
      return !ignored && isFocusable === true && !isPart && String(name?.value ?? '').trim() === '';
    })
    .map(({ role, nodeId }) => `${String(role?.value)} (accessibility node ${nodeId})`);
}

/** As the reader's system says it; what was toggled on the page itself wins over it. */
export async function inScheme(page: Page, scheme: Scheme): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
}

/** Of a browser's canvas: tests are compiled without its types. */
interface Drawn {
  toDataURL(): string;
}

/**
 * Controls that nobody can get at, such as when a window shows half as much (200 % zoom): with the focus and
 * scrolled into sight, they are outside of it or under something else. Bound: the first 120 of them.
 */
export async function unreachable(page: Page, within: string): Promise<readonly string[]> {
  return await page.evaluate<string[]>(`
    [...document.querySelector(${JSON.stringify(within)})
      .querySelectorAll('button:enabled, a[href], select, input, [role=slider], [role=grid]')]
      .filter((control) => control.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true }))
      .slice(0, 120)
      .filter((control) => {
        control.focus({ preventScroll: true });
        control.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
        const box = control.getBoundingClientRect();
        if (box.width < 2 || box.height < 2) return false;
        const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth);
        const top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
        if (right - left < 2 || bottom - top < 2) return true;
        const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        return hit === null || !(control.contains(hit) || hit.contains(control));
      })
      .map((control) => control.outerHTML.slice(0, 160))
  `);
}

/** Of a picture, in CSS pixels from its corner. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

/**
 * Where the hand must point so that the picture's tip says each of these texts: found by pointing, coarsely
 * first, as nothing but the picture knows its layout. Inside the page, because a busy machine takes long for
 * each of a thousand moves of a real hand.
 */
export async function pointedAt(
  page: Page,
  picture: Locator,
  texts: readonly string[],
): Promise<readonly Place[]> {
  await picture.waitFor();
  await settled(page);
  await picture.evaluate((canvas) =>
    (canvas as unknown as Marked).setAttribute('data-searched', ''),
  );
  const found = await page.evaluate<(Place | null)[]>(
    `(async (texts) => {${SEARCH_TIPS}})(${JSON.stringify(texts)})`,
  );
  const places: Place[] = [];
  for (const [at, text] of texts.entries()) {
    const place = found[at] ?? assert.fail(`nowhere in the picture says “${text}”`);
    await picture.hover({ position: place });
    await page.locator('.tip', { hasText: text }).waitFor();
    places.push(place);
  }
  await page.mouse.move(0, 0);
  return places;
}

/** Of a browser's element. */
interface Marked {
  setAttribute(name: string, value: string): void;
}

const SEARCH_TIPS = `
  const canvas = document.querySelector('[data-searched]');
  canvas.removeAttribute('data-searched');
  const box = canvas.getBoundingClientRect();
  const saidAt = async ({ x, y }) => {
    const at = { bubbles: true, clientX: box.left + x, clientY: box.top + y };
    canvas.dispatchEvent(new PointerEvent('pointermove', at));
    // The page draws the tip in a task of its own.
    await new Promise((done) => setTimeout(done));
    await new Promise((done) => setTimeout(done));
    return [...document.querySelectorAll('.tip')].map((tip) => tip.textContent).join();
  };
  const found = texts.map(() => null);
  for (const step of [64, 16, 8]) {
    for (let y = step / 2; y < box.height; y += step) {
      for (let x = step / 2; x < box.width; x += step) {
        const said = await saidAt({ x, y });
        const place = texts.findIndex((text) => said.includes(text));
        if (place < 0 || found[place] !== null) continue;
        // A tip that was drawn late is the one of the last place.
        if ((await saidAt({ x, y })).includes(texts[place])) found[place] = { x, y };
        if (!found.includes(null)) return found;
      }
    }
  }
  return found;
`;

/** The colour of a canvas at a place: `r,g,b,a`. */
export async function pixelAt(page: Page, selector: string, { x, y }: Place): Promise<string> {
  return await page.evaluate<string>(`(() => {
    const canvas = document.querySelector(${JSON.stringify(selector)});
    const ratio = canvas.width / canvas.clientWidth;
    return canvas.getContext('2d').getImageData(${x} * ratio, ${y} * ratio, 1, 1).data.join();
  })()`);
}

/** The pixels of a canvas, as text that two pictures are compared by. */
export async function canvasPixels(page: Page, selector: string): Promise<string> {
  const picture = page.locator(selector);
  return await picture.evaluate((canvas) => (canvas as unknown as Drawn).toDataURL());
}

/**
 * Below .cache/screenshots, or docs/img when BIGFLEET_SCREENSHOTS=docs (`make screenshots`): a test that
 * runs for another reason leaves the tree as it found it.
 */
export async function screenshot(page: Page, name: string): Promise<void> {
  const isForDocs = process.env['BIGFLEET_SCREENSHOTS'] === 'docs';
  const folder = path.join(ROOT, isForDocs ? 'docs/img' : '.cache/screenshots');
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`) });
}

/** For a person who looks why a comparison failed; returns where it lies, from the root of the tree. */
export function keepPicture(name: string, png: Buffer): string {
  const file = path.join('.cache/pictures', `${name}.png`);
  mkdirSync(path.join(ROOT, '.cache/pictures'), { recursive: true });
  writeFileSync(path.join(ROOT, file), png);
  return file;
}

export function assertNoProblems(tab: DashboardTab, where: string): void {
  assert.deepEqual(tab.problems, [], where);
}

/** One line of the report that every budget is printed in; nothing holds a machine's speed to a bar. */
export function printBudget(
  t: Pick<TestContext, 'diagnostic'>,
  name: string,
  measured: string,
  budget: string,
): void {
  t.diagnostic(`budget: ${name}: ${measured} (budget ${budget})`);
}

export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
