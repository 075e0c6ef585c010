// Proves that the types follow the definition: what is required, optional, an enum or a map there is so
// in TypeScript, and a schema that has no such type is refused.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { parseYaml } from '@bigfleet/process';
import { type Definition, typesOf } from './types.ts';

const DEFINITIONS = new URL('../../api/crd/', import.meta.url);

/** Fresh objects, for tests that change them. */
function definitions(): Definition[] {
  const files = readdirSync(DEFINITIONS).filter((file) => file.endsWith('.yaml'));
  return files.toSorted().map((file) => {
    const parsed = parseYaml(readFileSync(new URL(file, DEFINITIONS), 'utf8'));
    assert.ok(parsed.ok, file);
    return parsed.value as Definition;
  });
}

interface Loose {
  required?: string[];
  properties: Record<string, Loose>;
  items: Loose;
  [key: string]: unknown;
}

/** The types after a change of CapacityRequest's schema. */
function changed(change: (schema: Loose) => void): string {
  const all = definitions();
  const request = all.find(({ spec }) => spec.names.kind === 'CapacityRequest');
  change(request?.spec.versions[0]?.schema.openAPIV3Schema as unknown as Loose);
  return typesOf(all);
}

test('a field that is added, required, retyped or renamed changes its type', () => {
  const spec = (schema: Loose): Loose => schema.properties['spec']!;
  assert.match(
    changed((schema) => {
      spec(schema).properties['tier'] = { type: 'string' } as unknown as Loose;
    }),
    /readonly tier\?: string \| undefined;/,
  );
  assert.match(
    changed((schema) => spec(schema).required?.push('coLocation')),
    /readonly coLocation: CoLocation;/,
  );
  assert.match(
    changed((schema) => {
      spec(schema).properties['priority'] = { type: 'boolean' } as unknown as Loose;
    }),
    /readonly priority: boolean;/,
  );
  assert.match(
    changed((schema) => {
      schema.properties['status']!.properties['phase']!['enum'] = ['Pending', 'Done'];
    }),
    /'Pending',\n {2}'Done',/,
  );
});

test('what has no type is refused, and so are two schemas under one name', () => {
  const oneOf = { oneOf: [{ type: 'string' }] } as unknown as Loose;
  assert.throws(
    () =>
      changed((schema) => {
        schema.properties['spec']!.properties['odd'] = oneOf;
      }),
    /CapacityRequest\.spec\.odd: a type that is not known here/,
  );
  assert.throws(
    () =>
      changed((schema) => {
        const { items } = schema.properties['spec']!.properties['requirements']!;
        items.properties['weight'] = { type: 'integer' } as unknown as Loose;
      }),
    /not the NodeRequirement of before/,
  );
});
