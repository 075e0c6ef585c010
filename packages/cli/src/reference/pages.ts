// The reference pages of the command line, from the same tables that parse it. Written into
// docs/cli, and compared by a test: a flag that is not on the page does not exist.

import type { Flag, FlagTable } from '@bigfleet/process/flags';
import { COMMANDS } from '../bigfleet.ts';
import { EXIT } from '../command.ts';
import { globalFlags } from '../ctl/frame/flags.ts';
import { descriptionLines, usageLine, type Verb, VERB_GROUPS } from '../ctl/frame/verb.ts';
import { EXIT_CODE_TEXTS } from '../ctl/output/report.ts';
import { VERBS } from '../ctl/verbs/index.ts';
import { operatorProgram } from '../operator/command.ts';
import { podControllerProgram } from '../pod-controller/command.ts';
import type { Program } from '../program.ts';

const GENERATED =
  '<!-- Generated from packages/cli by `node packages/cli/src/reference/main.ts`; do not edit. -->';

/** Path in the repository → text. */
export function referencePages(): ReadonlyMap<string, string> {
  return new Map([
    ['docs/cli/bigfleetctl.md', ctlPage()],
    ['docs/cli/bigfleet.md', bigfleetPage()],
    ...PROGRAMS.map((program) => {
      const { command } = program.wording;
      return [`docs/cli/${command}.md`, programPage(program)] as const;
    }),
  ]);
}

/** Programs that are one command each. */
export const PROGRAMS: readonly Program[] = [operatorProgram, podControllerProgram];

function programPage({ wording, command }: Program): string {
  return page([
    `# ${wording.command}`,
    GENERATED,
    `${sentence(command.summary)} One process in every cluster; how it is installed: ` +
      '[the operator guide](../operator-guide.md).',
    `\`${wording.command} [flags]\`; \`--help\` and \`--version\` as everywhere. Errors begin with ` +
      `\`${wording.prefix}:\` and exit ${EXIT.failed}; a stop by SIGTERM or SIGINT exits ${EXIT.ok}.`,
    flagTable(command.flags),
  ]);
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

function ctlPage(): string {
  const contents = VERB_GROUPS.map((group) => {
    const links = VERBS.filter((verb) => verb.group === group).map(
      ({ name }) => `[${name}](#${anchor(name)})`,
    );
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
      ...VERBS.filter((verb) => verb.group === group).flatMap(verbSection),
    ]),
  ]);
}

function verbSection(verb: Verb): string[] {
  const { name, examples, flags } = verb;
  const shown = examples.map((example) => `bigfleetctl ${example}`).join('\n');
  return [
    `### ${name}`,
    descriptionLines(verb).join('\n').replaceAll('<', '&lt;'),
    `\`${usageLine(verb)}\``,
    `\`\`\`text\n${shown}\n\`\`\``,
    ...(Object.keys(flags).length === 0 ? [] : [flagTable(flags)]),
  ];
}

function bigfleetPage(): string {
  const commands = [...COMMANDS];
  return page([
    '# bigfleet',
    GENERATED,
    'The processes of BigFleet, and the offline tools that read what they left on disk. ' +
      'How to use them: [the command line](index.md).',
    commands
      .map(([name, { summary }]) => `- [${name}](#bigfleet-${anchor(name)}): ${summary}`)
      .join('\n'),
    ...commands.flatMap(([name, { flags }]) => [`## bigfleet ${name}`, flagTable(flags)]),
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
