// `node tools/bundle/main.ts --out <folder> [--node <path>] <command>=<source.ts> …`: commands that
// run on Node alone, for container images (deploy/images).

import path from 'node:path';
import { parseArgs } from 'node:util';
import { requireNode24 } from '@bigfleet/process/node-version';
import { bundle } from './bundle.ts';

const USAGE = 'usage: bundle --out <folder> [--node <path>] <command>=<source.ts> …';

requireNode24();
const { values, positionals } = parseArgs({
  options: { out: { type: 'string' }, node: { type: 'string', default: '/usr/local/bin/node' } },
  allowPositionals: true,
});
const named = positionals.map((one) => /^([^=]+)=(.+)$/.exec(one));
if (values.out === undefined || named.length === 0 || named.includes(null)) {
  process.stderr.write(`${USAGE}\n`);
  process.exit(2);
}
const commands = Object.fromEntries(
  named.map((found) => [found?.[1] ?? '', found?.[2] ?? ''] as const),
);
const root = path.join(import.meta.dirname, '../..');
const files = await bundle({ root, commands, out: path.resolve(values.out), node: values.node });
process.stdout.write(`${values.out}: ${files.join(' ')}\n`);
