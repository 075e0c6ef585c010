// Proves what holds on every page for every reader: pressing everything that can be pressed sends nothing but
// GET, every control has a name that a screen reader can say, and nothing moves for a reader who asked for
// stillness. Each of the three is first seen to fail where it must.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipReason } from '../browser/chromium.ts';
import { eventually, unixMs } from '../toolkit/index.ts';
import { startSynthetic, type SyntheticDashboard } from './synthetic-dashboard.ts';
import {
  assertNoProblems,
  type DashboardTab,
  namelessControls,
  openDashboard,
  openElsewhere,
  settled,
} from './tab.ts';

const skip = skipReason();
const STEP_MS = 10_000;

describe('every page', { skip }, () => {
  let dashboard: SyntheticDashboard;
  let tab: DashboardTab;
  let page: Page;
  let addresses: readonly string[];

  before(async () => {
    const beginMs = unixMs() - 31 * STEP_MS;
    dashboard = await startSynthetic({ beginMs });
    for (let step = 1; step <= 30; step += 1) dashboard.step(beginMs + step * STEP_MS);
    tab = await openDashboard(dashboard.url);
    ({ page } = tab);
    const { decisions } = await dashboard.ask<{
      readonly decisions: readonly { readonly id: string; readonly machine: string }[];
    }>('decisions?limit=1');
    const [decision] = decisions;
    assert.ok(decision !== undefined);
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    await links.first().waitFor();
    const linked = await links.evaluateAll((found) =>
      found.map((link) => new URL((link as unknown as { readonly href: string }).href).pathname),
    );
    assert.ok(linked.length >= 15);
    addresses = [
      ...linked,
      '/map?table=1',
      '/cost?table=1',
      '/lifecycle?table=1',
      `/decisions?open=${encodeURIComponent(decision.id)}`,
      `/explain?machine=${encodeURIComponent(decision.machine)}`,
    ];
  });
  after(async () => {
    await tab[Symbol.asyncDispose]();
    await dashboard[Symbol.asyncDispose]();
  });

  const open = async (address: string): Promise<void> => {
    await page.goto(`${dashboard.url}${address}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await eventually(async () => (await page.locator('.loading, [aria-busy=true]').count()) === 0, {
      what: `${address} has loaded`,
    });
    await settled(page);
  };

  test('has a name for every control', async () => {
    await open('/');
    assert.deepEqual(await namelessControls(page), []);
    await page.evaluate(`document.querySelector('main').append(document.createElement('button'))`);
    assert.equal((await namelessControls(page)).length, 1, 'a button without a name is found');
    const nameless: string[] = [];
    for (const address of addresses) {
      await open(address);
      for (const control of await namelessControls(page)) nameless.push(`${address}: ${control}`);
    }
    assert.deepEqual(nameless, []);
  });

  test('sends nothing but GET, whatever is pressed', async (t) => {
    await using other = await openElsewhere(tab, dashboard.url);
    await other.page.evaluate(`fetch('/api/v1/now', { method: 'POST' }).then(() => true)`);
    assert.match(other.problems.join('\n'), /^POST /m, 'a POST is noticed');
    let pressed = 0;
    for (const address of addresses) {
      await open(address);
      // Buttons that appear are pressed in their turn. Bound: a press may bring the next one for ever.
      pressed += await page.evaluate<number>(`(async () => {
        const done = new Set();
        const next = () => [...document.querySelectorAll('button:enabled')]
          .find((button) => !done.has(button) && button.checkVisibility());
        for (let button = next(); button !== undefined && done.size < 60; button = next()) {
          done.add(button);
          button.click();
          await new Promise((then) => setTimeout(then));
        }
        return done.size;
      })()`);
      await settled(page);
    }
    t.diagnostic(`${pressed} buttons pressed`);
    assert.ok(pressed > 3 * addresses.length, `${pressed} buttons`);
    // What the synthetic fleet cannot answer, and forms that are left in haste, the browser prints itself.
    const own = tab.problems.filter((problem) => !problem.startsWith('console: '));
    assert.deepEqual(own, []);
  });

  test('stands still for who asked for stillness', async () => {
    const movedWith = async (reducedMotion: 'reduce' | 'no-preference'): Promise<number> => {
      await using other = await openElsewhere(tab, 'about:blank');
      const still = other.page;
      await still.emulateMedia({ reducedMotion });
      await still.goto(`${dashboard.url}/map`);
      await still.getByRole('application', { name: /^Fleet map of/ }).waitFor();
      await still.evaluate(`
        globalThis.__moved = 0;
        const look = () => {
          const canvas = document.querySelector('.fleet-over');
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          const moving = document.getAnimations().filter(({ playState }) => playState === 'running');
          if (moving.length > 0 || data.some((part) => part !== 0)) globalThis.__moved += 1;
          globalThis.__looked = (globalThis.__looked ?? 0) + 1;
          requestAnimationFrame(look);
        };
        look();
      `);
      // Whether a change glows hangs on what comes first, the cell or the whole view: several steps, each
      // given a few frames.
      const seen = (what: string): Promise<number> => still.evaluate<number>(`globalThis.${what}`);
      for (let step = 0; step < 20; step += 1) {
        dashboard.step(unixMs());
        const before = await seen('__looked');
        await eventually(async () => (await seen('__looked')) > before + 3, {
          what: 'more frames',
        });
      }
      assertNoProblems(other, reducedMotion);
      return await seen('__moved');
    };
    assert.ok((await movedWith('no-preference')) > 0, 'a change glows');
    assert.equal(await movedWith('reduce'), 0);
  });
});
