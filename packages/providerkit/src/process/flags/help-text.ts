// `--help`, from the same table that the parser reads.

import { formatDuration } from './duration.ts';
import { type FlagSpec, type FlagTable, variableOf } from './flag-table.ts';

const WIDTH = 96;
const INDENT = '        ';

export interface HelpOptions {
  readonly command: string;
  readonly summary: string;
  readonly table: FlagTable;
}

export function helpText({ command, summary, table }: HelpOptions): string {
  const flags = Object.entries(table).flatMap(([name, spec]) => [
    `  --${name}${valueForm(spec)}`,
    ...wrap(`${spec.help} Default: ${defaultText(spec)}.`),
  ]);
  const example = Object.keys(table)[0] ?? '';
  return [
    `${command}: ${summary}`,
    '',
    `Every flag is also an environment variable: --${example} is ${variableOf(example)}.`,
    '',
    ...flags,
    '  --help',
    ...wrap('Print this and exit.'),
    '  --version',
    ...wrap('Print the version and exit.'),
    '',
  ].join('\n');
}

function valueForm(spec: FlagSpec): string {
  switch (spec.kind) {
    case 'text':
      return ` ${spec.placeholder ?? 'text'}`;
    case 'switch':
      return '[=true|false]';
    case 'duration':
      return ' duration';
    case 'count':
      return ' count';
    case 'choice':
      return ` ${spec.values.join('|')}`;
  }
}

function defaultText(spec: FlagSpec): string {
  if (spec.kind === 'duration') return formatDuration(spec.default);
  return spec.default === '' ? 'empty' : String(spec.default);
}

function wrap(text: string): readonly string[] {
  const lines: string[] = [];
  let line = INDENT;
  for (const word of text.split(' ')) {
    if (line !== INDENT && line.length + word.length + 1 > WIDTH) {
      lines.push(line);
      line = INDENT;
    }
    line += line === INDENT ? word : ` ${word}`;
  }
  return [...lines, line];
}
