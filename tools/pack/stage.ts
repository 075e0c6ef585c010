// `node tools/pack/stage.ts [--out <folder>] [package …]`: tarballs of the published packages.

import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { requireNode24 } from '@bigfleet/process/node-version';
import { PUBLISHED, stagePackages } from './staging.ts';

requireNode24();
const { values, positionals } = parseArgs({
  options: { out: { type: 'string' } },
  allowPositionals: true,
});
const root = path.join(import.meta.dirname, '../..');
const out = path.resolve(values.out ?? mkdtempSync(path.join(tmpdir(), 'bigfleet-pack-')));
mkdirSync(out, { recursive: true });
const names = positionals.length > 0 ? positionals : PUBLISHED;
for (const { name, version, tarball, files } of stagePackages({ root, names, out })) {
  process.stdout.write(`${name} ${version}: ${files.length} files, ${tarball}\n`);
}
