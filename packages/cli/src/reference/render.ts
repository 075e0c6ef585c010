// The reference pages of the command line, from the same tables that parse it. Written into
// docs/cli, and compared by a test: a flag that is not on the page does not exist.

import type { Flag, FlagTable } from '@bigfleet/process/flags';
import { EXIT_CODE_TEXTS } from '../ctl/exit-code.ts';
import { globalFlags } from '../ctl/frame/global-flags.ts';
import { type Verb, VERB_GROUPS } from '../ctl/frame/verb.ts';

const GENERATED =
  '<!-- Generated from packages/cli by `node packages/cli/src/reference/main.ts`; do not edit. -->';

export function ctlPage(verbs: readonly Verb[]): string {
  const contents = VERB_GROUPS.map((group) => {
    const links = verbs
      .filter((verb) => verb.group === group)
      .map(({ name }) => `[${name}](#${anchor(name)})`);
    return `- ${group}: ${links.join(', ')}`;
  });
  return page([
    '# bigfleetctl',
    GENERATED,
    'Looks at and steers a BigFleet installation: coordinator, shards, providers. How to use it day ' +
      'by day: [the command line](index.md).',
    contents.join('\n'),
    '## Global flags',
    flagTable(globalFlags),
    '## Exit codes',
    table(
      ['Code', 'Meaning'],
      EXIT_CODE_TEXTS.map(([code, meaning]) => [String(code), meaning]),
    ),
    ...VERB_GROUPS.flatMap((group) => [
      `## ${group}`,
      ...verbs.filter((verb) => verb.group === group).flatMap(verbSection),
    ]),
  ]);
}

function verbSection(verb: Verb): string[] {
  const { name, summary, details, examples, flags, words, required } = verb;
  const usage = [
    `bigfleetctl ${name}`,
    ...words.map((word) => (word.isOptional === true ? `[<${word.name}>]` : `<${word.name}>`)),
    ...required.map((flag) => `--${flag}=…`),
    '[flags]',
  ].join(' ');
  const text = [`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, ...details].join('\n');
  const shown = examples.map((example) => `bigfleetctl ${example}`).join('\n');
  return [
    `### ${name}`,
    text.replaceAll('<', '&lt;'),
    `\`${usage}\``,
    `\`\`\`text\n${shown}\n\`\`\``,
    ...(Object.keys(flags).length === 0 ? [] : [flagTable(flags)]),
  ];
}

export interface DocumentedCommand {
  readonly name: string;
  readonly summary: string;
  readonly flags: FlagTable;
}

export function bigfleetPage(commands: readonly DocumentedCommand[]): string {
  return page([
    '# bigfleet',
    GENERATED,
    'The processes of BigFleet, and the offline tools that read what they left on disk. ' +
      'How to use them: [the command line](index.md).',
    commands
      .map(({ name, summary }) => `- [${name}](#bigfleet-${anchor(name)}): ${summary}`)
      .join('\n'),
    ...commands.flatMap(({ name, flags }) => [`## bigfleet ${name}`, flagTable(flags)]),
  ]);
}

function flagTable(flags: FlagTable): string {
  return table(
    ['Flag', 'Default', 'Meaning'],
    Object.entries(flags).map(([name, flag]) => [flagName(name, flag), fallback(flag), flag.help]),
  );
}

function flagName(name: string, { form, short }: Flag<unknown>): string {
  const long = `--${name}${form === undefined ? '' : ` ${form}`}`;
  return `\`${short === undefined ? '' : `-${short}, `}${long}\``;
}

function fallback({ fallback: text, isRepeatable }: Flag<unknown>): string {
  if (isRepeatable === true) return 'repeatable';
  return text === '' ? '' : `\`${text}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

function anchor(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-');
}

function page(sections: readonly string[]): string {
  return `${sections.join('\n\n')}\n`;
}
