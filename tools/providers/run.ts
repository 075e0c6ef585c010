// Generates docs/providers.md's table from the manifests below providers/, or checks that it is
// what would be generated. Without providers/ there is nothing to say: core stands without them.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readProviders } from './manifest.ts';
import { renderTable, replaceTable } from './render.ts';

export const PAGE = 'docs/providers.md';

export interface CatalogueReport {
  readonly providerCount: number;
  readonly problems: readonly string[];
}

export function runCatalogue(root: string, mode: 'write' | 'check'): CatalogueReport {
  if (!existsSync(path.join(root, 'providers'))) return { providerCount: 0, problems: [] };
  const { entries, problems } = readProviders(root);
  const providerCount = entries.length;
  if (problems.length > 0) return { providerCount, problems };
  const file = path.join(root, PAGE);
  const page = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const updated = replaceTable(page, renderTable(entries));
  if (updated === undefined) {
    return { providerCount, problems: [`${PAGE}: the two comments around the table are missing`] };
  }
  if (updated === page) return { providerCount, problems: [] };
  if (mode === 'write') {
    writeFileSync(file, updated);
    return { providerCount, problems: [] };
  }
  const stale = `${PAGE}: differs from the manifests: run node tools/providers/catalogue.ts`;
  return { providerCount, problems: [stale] };
}
