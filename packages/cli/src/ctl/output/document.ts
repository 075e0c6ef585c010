// Documents: what -o json and -o yaml print, and YAML as the config file holds it. Views are plain
// values already; only 64-bit numbers and maps need a spelling: text, because readers would round it,
// and an object. The one file that knows the yaml package. Parsing is strict: duplicate keys, tabs and
// unknown tags are errors, and an alias bomb ends at the parser's bound.

import { parseDocument, stringify } from 'yaml';
import { err, ok, type Result } from '@bigfleet/base';

const MAX_ALIASES = 100;

export function documentText(document: unknown, form: 'json' | 'yaml'): string {
  const plain = plainValue(document);
  return form === 'yaml' ? yamlText(plain) : `${JSON.stringify(plain, undefined, 2)}\n`;
}

/** One line; for streams, where each line is a document. */
export function documentLine(document: unknown): string {
  return `${JSON.stringify(plainValue(document))}\n`;
}

function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  // JSON has no infinity, and null would read as "unknown".
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (Array.isArray(value)) return value.map(plainValue);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Map) return plainValue(Object.fromEntries(value));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries.map(([key, part]) => [key, plainValue(part)]));
}

export function yamlText(document: unknown): string {
  return stringify(document, { lineWidth: 0 });
}

/** The error is one line that names the place. */
export function parseYaml(text: string): Result<unknown, string> {
  const document = parseDocument(text, { strict: true, uniqueKeys: true });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) return err(problem.message.split('\n')[0] ?? 'not YAML');
  try {
    return ok(document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown);
  } catch (error) {
    return err(error instanceof Error ? error.message : String(error));
  }
}
