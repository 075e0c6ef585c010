// The built playground behind any web server: files of one folder, no rewriting, no headers of its own. And its
// panel, by which a test brings a scenario to a cycle and lets it stand there.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../toolkit/index.ts';

/** Of `make playground`. */
const FOLDER = path.join(import.meta.dirname, '../../packages/dashboard/dist/playground');
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

export async function servePlayground(): Promise<AsyncDisposable & { readonly origin: string }> {
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

export class PlaygroundPanel {
  readonly region: Locator;
  readonly scenario: Locator;

  constructor(page: Page) {
    this.region = page.getByRole('region', { name: 'Playground' });
    this.scenario = this.region.getByRole('combobox', { name: 'Scenario' });
  }

  async titles(): Promise<readonly string[]> {
    return await this.scenario.locator('option').allInnerTexts();
  }

  /** Chooses a scenario and waits for the worker: until then the panel shows the end of the one before. */
  async choose(title: string): Promise<void> {
    await this.scenario.selectOption({ label: title });
    const shown = this.scenario.locator('option:checked');
    await eventually(async () => (await shown.innerText()) === title, {
      what: `${title} is loaded`,
    });
    await this.region.getByText('Stated end:').waitFor();
  }

  /** The hash over all actions so far, as the page shows it. */
  async chain(): Promise<string> {
    return await this.region.locator('code').first().innerText();
  }

  async toTheEnd(): Promise<void> {
    const seek = this.region.getByRole('slider', { name: /^Cycle / });
    await seek.focus();
    await seek.press('End');
    await this.region.getByText(/^(?:not )?reached/).waitFor();
  }

  /** A scenario stands still at a cycle. */
  async standAt(title: string, cycle: number): Promise<void> {
    await this.choose(title);
    await this.region.getByRole('button', { name: 'Pause' }).click();
    await this.region.getByRole('button', { name: 'Run', exact: true }).waitFor();
    await this.region.getByRole('slider', { name: /^Cycle / }).fill(String(cycle));
    await this.region.getByRole('slider', { name: new RegExp(`^Cycle ${cycle} of `) }).waitFor();
  }
}
