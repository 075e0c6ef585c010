// --help from the table: every flag with its form, default and meaning, in the table's order. Columns
// where the meaning is a phrase, blocks where it is whole sentences.

import type { Flag, FlagTable } from './flag.ts';

const INDENT = 2;
const MAX_COLUMN = 42;
const BLOCK_WIDTH = 96;
const BLOCK_INDENT = ' '.repeat(8);

export function helpText(usage: string, summary: string, table: FlagTable): string {
  return `${[usage, '', summary, '', 'Flags:', ...flagLines(table)].join('\n')}\n`;
}

export function flagLines(table: FlagTable): string[] {
  return Object.entries(table).map(([name, flag]) => flagLine(name, flag));
}

function flagLine(name: string, flag: Flag<unknown>): string {
  const short = flag.short === undefined ? '' : `-${flag.short}, `;
  const head = `${short}--${name}${flag.form === undefined ? '' : ` ${flag.form}`}`;
  const padded = `${' '.repeat(INDENT)}${head}`.padEnd(MAX_COLUMN);
  const separator = padded.endsWith(' ') ? '' : `\n${' '.repeat(MAX_COLUMN)}`;
  return `${padded}${separator}${flag.help}${defaultText(flag)}`;
}

function defaultText({ fallback, isRepeatable, form }: Flag<unknown>): string {
  if (isRepeatable === true) return ' (repeatable)';
  if (form !== undefined && fallback === '') return '';
  return ` (default ${fallback})`;
}

/** The head on a line of its own, the text below it, indented and wrapped. */
export function blockLines(head: string, text: string): string[] {
  const lines: string[] = [];
  let line = BLOCK_INDENT;
  for (const word of text.split(' ')) {
    if (line !== BLOCK_INDENT && line.length + word.length + 1 > BLOCK_WIDTH) {
      lines.push(line);
      line = BLOCK_INDENT;
    }
    line += line === BLOCK_INDENT ? word : ` ${word}`;
  }
  return [`${' '.repeat(INDENT)}${head}`, ...lines, line];
}
