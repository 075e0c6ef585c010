// `node tools/site/main.ts [folder]`: the documentation as a static site that needs no network, by
// default below .cache/site. A link that leads nowhere fails the build and nothing is written.

import path from 'node:path';
import { requireNode24 } from '@bigfleet/process/node-version';
import { buildSite } from './build.ts';
import { writeSite } from './write.ts';

requireNode24();
const root = path.join(import.meta.dirname, '../..');
const out = path.resolve(process.argv[2] ?? path.join(root, '.cache/site'));
const site = buildSite(root);
for (const problem of site.problems) process.stdout.write(`FAIL ${problem}\n`);
if (site.problems.length === 0) writeSite(site, out);
process.stdout.write(
  `site: ${site.pages.length} pages, ${site.linkCount} internal links, ${site.problems.length} broken` +
    `${site.problems.length === 0 ? `; open ${path.join(out, 'index.html')}` : ''}\n`,
);
process.exitCode = site.problems.length > 0 ? 1 : 0;
