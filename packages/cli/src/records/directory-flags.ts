// What every verb over a records directory takes: where it is and how to print.

import type { Flag } from '../flags/flag.ts';
import { oneOf, text } from '../flags/forms.ts';

type OutputForm = 'text' | 'json';

export const directoryFlags: {
  readonly 'records-dir': Flag<string>;
  readonly output: Flag<OutputForm>;
} = {
  'records-dir': text('./data/records', 'Directory that a shard writes its records to.', '<dir>'),
  output: oneOf('text', ['text', 'json'], 'How to print.'),
};

/** One line of JSON; 64-bit numbers as text, because readers would round them. */
export function jsonLine(value: unknown): string {
  const plain = (_: string, part: unknown): unknown => {
    if (typeof part === 'bigint') return String(part);
    return part instanceof Map ? Object.fromEntries(part) : part;
  };
  return `${JSON.stringify(value, plain)}\n`;
}
