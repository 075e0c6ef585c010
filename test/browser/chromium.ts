// A real Chromium, headless, driven through playwright-core over its debugging socket. Started as
// a process of the toolkit and not by playwright: so its whole group is killed with the test,
// whichever way that ends, its profile is removed, and its output is part of a failure.
// Loads pages of loopback only; everything that would call its maker is switched off.

import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import {
  createTempDir,
  HANG_MS,
  INSTALL_COMMAND,
  missingCommands,
  requireCommand,
  type RunningProcess,
  startProcess,
  type TempDir,
  withDeadline,
} from '../toolkit/index.ts';

const LISTENING = /DevTools listening on (ws:\/\/\S+)/;

const FLAGS: readonly string[] = [
  '--headless',
  // Chromium refuses to run as root with its sandbox. The only page it loads here is our own.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-breakpad',
  '--remote-debugging-port=0',
];

/**
 * Why tests in a browser are skipped, or `false`. Root is never excused: `make deps` installs
 * Chromium, so a skip there would hide that the engine was not tested in a browser at all.
 */
export function skipReason(
  isRoot: boolean = process.getuid?.() === 0,
  isMissing: boolean = missingCommands(['chromium']).length > 0,
): string | false {
  return isMissing && !isRoot ? `chromium is missing; run: ${INSTALL_COMMAND}` : false;
}

export interface BrowserTab extends AsyncDisposable {
  readonly page: Page;
  readonly version: string;
}

/** Resolves once the page is loaded; on failure ends what it started and throws with its output. */
export async function openTab(url: string): Promise<BrowserTab> {
  await using stack = new AsyncDisposableStack();
  const profile = stack.use(createTempDir('chromium'));
  const running = stack.use(await startChromium(profile));
  try {
    const [, endpoint = ''] = await running.waitForLine(LISTENING);
    const browser = await chromium.connectOverCDP(endpoint, {
      timeout: HANG_MS,
      artifactsDir: join(profile.path, 'artifacts'),
    });
    stack.defer(() => withDeadline('close the browser', HANG_MS, () => browser.close()));
    const page = await browser.newPage();
    // The library's own bound of 30 s would fail a test for being slow.
    page.setDefaultTimeout(HANG_MS);
    await page.goto(url);
    const owned = stack.move();
    return {
      page,
      version: browser.version(),
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    };
  } catch (error) {
    throw new Error(`${String(error)}\n${running.output.text()}`, { cause: error });
  }
}

function startChromium(profile: TempDir): Promise<RunningProcess> {
  return startProcess({
    name: 'chromium',
    command: requireCommand('chromium'),
    args: [...FLAGS, `--user-data-dir=${profile.path}`, 'about:blank'],
    // Crash reports go to HOME, sockets and scratch files to TMPDIR: all of it goes with the profile.
    env: { HOME: profile.path, TMPDIR: profile.path },
    ready: { kind: 'line', pattern: LISTENING },
  });
}
