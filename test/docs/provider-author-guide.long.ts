// Proves every block of the author guide in its printed order, in a clone of this repository: copy,
// install, certify, serve on localhost:9001 and be judged there, pack and certify outside.

import { test } from 'node:test';
import { cloneRepository, SKIP } from '../template/clone.ts';
import { type Step, TimeBox } from '../template/time-box.ts';
import type { Block } from './blocks.ts';
import { guideBlocks, PROVIDER } from './guide.ts';
import { PageRunner } from './page-runner.ts';

test('the page, from its first block to its last', SKIP, async (t) => {
  await using clone = cloneRepository();
  await using page = await PageRunner.open(clone.path);
  const steps = guideBlocks.map((block): [string, Step] => [
    nameOf(block),
    { run: () => page.perform(block), expectedMs: expectedMs(block) },
  ]);
  await new TimeBox(t).run({
    'install the clone': { run: () => clone.install() },
    ...Object.fromEntries(steps),
    'the worked provider by our own rules': {
      run: async () => {
        const folder = `providers/${PROVIDER}`;
        await page.shell('tsc -b tsconfig.providers.json');
        await page.shell(`oxlint --type-aware --deny-warnings ${folder}`);
        await page.shell(`biome format ${folder}`);
        await page.shell(`knip --no-config-hints --workspace ${folder}`);
        await page.shell(`if node tools/walls/check.ts | grep '${folder}'; then exit 1; fi`);
      },
    },
  });
});

function nameOf(block: Block): string {
  if ('path' in block) return `${block.kind} ${block.path}`;
  const [first = ''] = block.text.split('\n');
  return `line ${block.line}: ${first.slice(0, 60)}`;
}

/** A full certification soaks; everything else on the page is short. */
function expectedMs({ text }: Block): number {
  return text.includes('make conformance-') ? 240_000 : 60_000;
}
