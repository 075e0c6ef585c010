// The author guide as its tests see it.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../template/clone.ts';
import { type Block, readBlocks } from './blocks.ts';

/** The folder of the worked provider, below providers/. */
export const PROVIDER = 'acme';

export const guideText: string = readFileSync(
  path.join(ROOT, 'docs/provider-author-guide.md'),
  'utf8',
);
export const guideBlocks: readonly Block[] = readBlocks(guideText);
