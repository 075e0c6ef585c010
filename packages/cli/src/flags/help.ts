// --help from the table: every flag with its form, default and meaning, in the table's order.

import type { Flag, FlagTable } from './flag.ts';

const INDENT = 2;
const MAX_COLUMN = 42;

export function helpText(usage: string, summary: string, table: FlagTable): string {
  const lines = Object.entries(table).map(([name, flag]) => flagLine(name, flag));
  return `${[usage, '', summary, '', 'Flags:', ...lines].join('\n')}\n`;
}

function flagLine(name: string, flag: Flag<unknown>): string {
  const head = `--${name}${flag.form === undefined ? '' : ` ${flag.form}`}`;
  const padded = `${' '.repeat(INDENT)}${head}`.padEnd(MAX_COLUMN);
  const separator = padded.endsWith(' ') ? '' : `\n${' '.repeat(MAX_COLUMN)}`;
  return `${padded}${separator}${flag.help}${defaultText(flag)}`;
}

function defaultText({ fallback, isRepeatable, form }: Flag<unknown>): string {
  if (isRepeatable === true) return ' (repeatable)';
  if (form !== undefined && fallback === '') return '';
  return ` (default ${fallback})`;
}
