// The notices that the licences of bundled packages ask for: name, version, licence and its text,
// one section per package, in order. A package without a licence text is listed with what its
// manifest says.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** `inputs` are paths below `root`, as the bundler lists them. */
export function notices(root: string, inputs: readonly string[]): string {
  const folders = new Set(inputs.flatMap((input) => packageFolder(input) ?? []));
  const sections = [...folders].sort().map((folder) => section(path.join(root, folder)));
  return sections.join(`\n${'-'.repeat(72)}\n\n`);
}

/** `node_modules/@a/b/dist/x.js` → `node_modules/@a/b`; undefined for a source of ours. */
function packageFolder(input: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0];
}

function section(folder: string): string {
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;
  const { name, version, license = 'see its text' } = manifest;
  const texts = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice)/i.test(file));
  const bodies = texts.sort().map((file) => readFileSync(path.join(folder, file), 'utf8').trim());
  return `${[`${name} ${version} (${license})`, ...bodies].join('\n\n')}\n`;
}
