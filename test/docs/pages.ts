// The pages whose blocks are checked, and the test that does what each of them prints. A new page with
// commands has no test until it stands here: coverage.test.ts says so.

import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Block, type BlockKind, type BlockOf, readBlocks } from './blocks.ts';

export const ROOT: string = path.join(import.meta.dirname, '../..');

/** Guides for a running fleet: guides.long.ts runs their commands against the one of the operator guide. */
export const FLEET_PAGES: readonly string[] = [
  'docs/working-with-bigfleet.md',
  'docs/upgrade.md',
  'docs/disaster-recovery.md',
  'docs/security.md',
];

/** Page → the test that runs its `run`, `clone` and `serve` blocks, in their order. */
export const EXECUTED_BY: Readonly<Record<string, string>> = {
  'docs/operator-guide.md': 'operator-guide.long.ts',
  'docs/provider-author-guide.md': 'provider-author-guide.long.ts',
  'docs/quick-start.md': 'quick-start.long.ts',
  ...Object.fromEntries(FLEET_PAGES.map((page) => [page, 'guides.long.ts'])),
};

const BESIDE = ['README.md', 'CONTRIBUTING.md', 'demo/README.md', 'deploy/README.md'];
/** The law and the records hold formulas and drawings; what they say is checked as code. */
const WITHOUT = /^docs\/(?:spec|adr)\//;

export function pageFiles(): readonly string[] {
  const docs = globSync('docs/**/*.md', { cwd: ROOT }).filter((page) => !WITHOUT.test(page));
  return [...BESIDE, ...docs.toSorted()];
}

export function textOf(page: string): string {
  return readFileSync(path.join(ROOT, page), 'utf8');
}

export function blocksOf(page: string): readonly Block[] {
  try {
    return readBlocks(textOf(page));
  } catch (error) {
    throw new Error(`${page}, ${String(error)}`, { cause: error });
  }
}

/** Blocks of one kind on all pages. */
export function allBlocks<Kind extends BlockKind>(
  kind: Kind,
): readonly { readonly page: string; readonly block: BlockOf<Kind> }[] {
  return pageFiles().flatMap((page) =>
    blocksOf(page)
      .filter((block) => block.kind === kind)
      .map((block) => ({ page, block: block as BlockOf<Kind> })),
  );
}
