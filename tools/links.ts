// `node tools/links.ts [root]`: the link check of README, CONTRIBUTING and docs, and the
// check that every standing decision record is mapped to code and tests, and the check that every
// section sign in the tree names a heading of docs/spec; for `make check`.

import path from 'node:path';
import { requireNode24 } from '@bigfleet/process/node-version';
import { checkLinks } from './links/check.ts';
import { checkDecisions } from './links/decisions.ts';
import { checkSections } from './links/sections.ts';

requireNode24();
const root = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '..'));
const { pages, links, paths, problems: broken } = checkLinks(root);
const { citations, problems: astray } = checkSections(root);
const problems = [...broken, ...checkDecisions(root), ...astray];
for (const problem of problems) process.stdout.write(`FAIL ${problem}\n`);
process.stdout.write(
  `links: ${pages} pages, ${links} relative links, ${paths} named files, ` +
    `${citations} cited sections, ${problems.length} broken\n`,
);
process.exitCode = problems.length > 0 ? 1 : 0;
