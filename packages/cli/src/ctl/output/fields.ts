// One thing with all its fields, as `describe` shows it: names to the left, values beside them,
// lists below their name. Fields without a value are left out.

import { cleanText } from './clean-text.ts';
import type { Style } from './style.ts';

export type FieldValue = string | number | boolean | bigint | undefined | readonly string[];

export type Field = readonly [name: string, value: FieldValue];

const INDENT = '  ';

export function fieldLines(fields: readonly Field[], style: Style): string[] {
  const shown = fields.filter(([, value]) => !isEmpty(value));
  const width = Math.max(0, ...shown.map(([name]) => name.length)) + 1;
  return shown.flatMap(([name, value]) => {
    const label = style.paint(`${name}:`.padEnd(width), 'strong');
    if (!Array.isArray(value)) return [`${label} ${cleanText(String(value))}`];
    return [label.trimEnd(), ...value.map((line: string) => `${INDENT}${cleanText(line)}`)];
  });
}

function isEmpty(value: FieldValue): boolean {
  return value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}
