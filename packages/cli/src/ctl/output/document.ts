// Documents: what -o json and -o yaml print. Views are plain values already; only 64-bit numbers and
// maps need a spelling: text, because readers would round it, and an object.

import { yamlText } from '@bigfleet/process';

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
