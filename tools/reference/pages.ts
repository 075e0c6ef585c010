// Reads what the pages are made from: definitions, compiled .proto files, catalogues, committed
// results. Paths are taken below a root, so that tests can plant a difference in a copy.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseYaml } from '@bigfleet/process';
import { runBuf } from '../proto/checks.ts';
import { apiPage } from './api-page.ts';
import type { Definition } from './crd-sections.ts';
import { errorsPage, OUR_TABLES } from './errors-page.ts';
import { SCALING_PAGE, scalingPage } from './scaling-page.ts';

/** Path below the root → text. */
export function referencePages(root: string): ReadonlyMap<string, string> {
  const catalogue = readFileSync(path.join(root, 'packages/base/src/errors/catalogue.ts'), 'utf8');
  return new Map([
    ['docs/api-reference.md', apiPage({ definitions: readDefinitions(root), image: build(root) })],
    ['docs/errors.md', errorsPage(OUR_TABLES, catalogue)],
    [SCALING_PAGE, scalingPage(root)],
  ]);
}

export function readDefinitions(root: string): readonly Definition[] {
  const folder = path.join(root, 'api/crd');
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
  return files.toSorted().map((file) => {
    const parsed = parseYaml(readFileSync(path.join(folder, file), 'utf8'));
    if (!parsed.ok) throw new Error(`${file}: ${parsed.error}`);
    return parsed.value as Definition;
  });
}

/** The committed image has no comments; this one is built with them, and kept nowhere. */
export function build(root: string): Uint8Array {
  const folder = mkdtempSync(path.join(tmpdir(), 'bigfleet-reference-'));
  try {
    const image = path.join(folder, 'image.binpb');
    const { ok, output } = runBuf(root, ['build', '-o', image]);
    if (!ok) throw new Error(`api/proto cannot be built: ${output}`);
    return readFileSync(image);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
