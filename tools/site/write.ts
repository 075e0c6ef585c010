// Writes a built site: beside the old one first, then in its place, so that a reader of the folder
// never sees half of it.

import { copyFileSync, cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Site } from './build.ts';

const THEME = path.join(import.meta.dirname, 'theme');

export function writeSite(site: Site, out: string): void {
  const draft = `${out}.new`;
  rmSync(draft, { recursive: true, force: true });
  for (const { address, html } of site.pages) write(draft, address, html);
  for (const [file, address] of site.images) {
    mkdirSync(path.dirname(path.join(draft, address)), { recursive: true });
    copyFileSync(path.join(site.root, file), path.join(draft, address));
  }
  write(draft, 'assets/search-index.js', site.searchIndex);
  cpSync(THEME, path.join(draft, 'assets'), { recursive: true });
  if (site.playground !== undefined) {
    cpSync(site.playground, path.join(draft, 'playground'), { recursive: true });
  }
  rmSync(out, { recursive: true, force: true });
  renameSync(draft, out);
}

function write(folder: string, address: string, text: string): void {
  const file = path.join(folder, address);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
