// One thing with all its fields, as `describe` shows it: names to the left, values beside them,
// lists below their name. Fields without a value are left out.

import type { Style } from './style.ts';
import { cleanText } from './text.ts';

type FieldValue = string | number | boolean | bigint | undefined | readonly string[];

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

/** All fields of a row under the names of -o json, spelled as words. */
export function rowFields(row: object): Field[] {
  return Object.entries(row).flatMap(([key, value]): Field[] => {
    if (isNested(value)) {
      // What a thing says about itself is about it.
      if (key === 'status') return rowFields(value);
      return rowFields(value).map(([name, inner]): Field => [below(key, name), inner]);
    }
    return [[words(key), fieldValue(value)]];
  });
}

/** An object with fields of its own; maps of counts and labels are values. */
function isNested(value: unknown): value is object {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).some((part) => typeof part !== 'string' && typeof part !== 'number')
  );
}

function fieldValue(value: unknown): FieldValue {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) return value.map(lineOf);
  return typeof value === 'object' ? pairs(value).join(',') : (value as FieldValue);
}

function lineOf(item: unknown): string {
  return typeof item === 'object' && item !== null ? pairs(item).join(' ') : String(item);
}

function pairs(value: object): string[] {
  return Object.entries(value)
    .filter(([, part]) => part !== null && part !== '')
    .map(([key, part]) => `${key}=${String(part)}`);
}

/** `Actuation dry run`. */
function below(key: string, name: string): string {
  return `${words(key)} ${name.charAt(0).toLowerCase()}${name.slice(1)}`;
}

/** `lastHeartbeat` is `Last heartbeat`. */
function words(key: string): string {
  const spaced = key.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${spaced.charAt(0).toUpperCase()}${spaced.slice(1)}`;
}
