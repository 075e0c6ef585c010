// Writes the types of the custom resources: `node tools/crd/generate.ts [--check]`. With --check it
// changes nothing and exits 1 when the committed types are not those of `api/crd`.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseYaml } from '@bigfleet/process';
import { type Definition, typesOf } from './types.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DEFINITIONS = join(ROOT, 'api/crd');
const TYPES = join(ROOT, 'packages/kube/src/gen/capacity.ts');

function definitions(): readonly Definition[] {
  const files = readdirSync(DEFINITIONS).filter((file) => file.endsWith('.yaml'));
  return files.toSorted().map((file) => {
    const parsed = parseYaml(readFileSync(join(DEFINITIONS, file), 'utf8'));
    if (!parsed.ok) throw new Error(`${file}: ${parsed.error}`);
    return parsed.value as Definition;
  });
}

const text = typesOf(definitions());
if (!process.argv.includes('--check')) writeFileSync(TYPES, text);
else if (readFileSync(TYPES, 'utf8') !== text) {
  console.error('packages/kube/src/gen/capacity.ts is not what api/crd says: run make crd');
  process.exitCode = 1;
}
