// `node packages/sim/src/testing/record.ts`: records the golden traces again. Whoever does so accepts the
// changed actions and says why in the same commit.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { goldenTraces } from './golden.ts';

const GOLDEN_DIRECTORY: URL = new URL('../../testdata/golden/', import.meta.url);

/** The committed traces by file name. */
export function readGoldens(): ReadonlyMap<string, string> {
  const names = readdirSync(GOLDEN_DIRECTORY).sort();
  return new Map(
    names.map((name) => [name, readFileSync(new URL(name, GOLDEN_DIRECTORY), 'utf8')]),
  );
}

if (import.meta.main) {
  for (const [name, text] of goldenTraces()) {
    writeFileSync(new URL(name, GOLDEN_DIRECTORY), text);
    process.stdout.write(`${name}\n`);
  }
}
