// A tree in which a page's commands run at once: the repository's manifest, its packages and its
// installed modules by link, and a copy of the template under the name that the page uses. Only for
// commands that write nothing outside providers/: npm and make would write through the links.

import { copyFileSync, cpSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../template/clone.ts';
import { createTempDir, type TempDir } from '../toolkit/index.ts';

export function createShadowTree(providerName: string): TempDir {
  const folder = createTempDir('page');
  for (const linked of ['node_modules', 'packages']) {
    symlinkSync(path.join(ROOT, linked), path.join(folder.path, linked));
  }
  copyFileSync(path.join(ROOT, 'package.json'), path.join(folder.path, 'package.json'));
  const copy = path.join(folder.path, 'providers', providerName);
  mkdirSync(path.dirname(copy));
  cpSync(path.join(ROOT, 'providers/_template'), copy, { recursive: true });
  return folder;
}
