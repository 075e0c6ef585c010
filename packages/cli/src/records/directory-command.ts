// The frame of the verbs that read a records directory: help, flags, how to print, and a directory that
// must be there. They need no shard: a copy of its directory is enough.

import { statSync } from 'node:fs';
import { describeDiff, type DiffReport, type ReplayMode } from '@bigfleet/engine';
import { directorySegments, type SegmentFiles } from '@bigfleet/shard';
import {
  type Flag,
  type FlagTable,
  type FlagValues,
  oneOf,
  text,
  helpText,
  parseFlags,
} from '@bigfleet/process/flags';
import { type Command, type CommandContext, EXIT } from '../command.ts';
import { isFileError } from '../ctl/connect/failure.ts';
import { documentLine, documentText } from '../ctl/output/document.ts';

const FORMS = ['text', 'json', 'yaml'] as const;
type OfflineForm = (typeof FORMS)[number];

export const directoryFlags = {
  'records-dir': text('./data/records', 'Directory that a shard writes its records to.', '<dir>'),
  output: { ...oneOf('text', FORMS, 'How to print.'), short: 'o' },
};

/** How a replay evaluates, for every verb that replays. */
export const replayModeFlag: Flag<ReplayMode> = oneOf(
  'recorded',
  ['recorded', 'incremental', 'full'],
  'Evaluate as it was recorded, never in full, or always in full; all three must agree.',
);

/** Text as it is; JSON a line, YAML a document, so that several can follow each other. */
export function offlineText(form: OfflineForm, document: unknown, words: () => string): string {
  if (form === 'text') return `${words()}\n`;
  return form === 'json' ? documentLine(document) : `---\n${documentText(document, 'yaml')}`;
}

/** One trace of a directory, decided twice. */
export interface ComparedTrace {
  readonly trace: string;
  readonly report: DiffReport;
}

export function comparedText(form: OfflineForm, compared: readonly ComparedTrace[]): string {
  return offlineText(form, compared, () =>
    compared.map(({ trace, report }) => `${trace}\n${describeDiff(report)}`).join('\n'),
  );
}

interface DirectoryVerb<Table extends FlagTable & typeof directoryFlags> {
  readonly name: string;
  readonly summary: string;
  readonly flags: Table;
  /** What is wrong with the flags together; undefined when nothing is. */
  readonly problem?: ((values: FlagValues<Table>) => string | undefined) | undefined;
  readonly run: (
    files: SegmentFiles,
    values: FlagValues<Table>,
    context: CommandContext,
  ) => Promise<number>;
}

export function directoryCommand<Table extends FlagTable & typeof directoryFlags>(
  verb: DirectoryVerb<Table>,
): Command {
  const { name, summary, flags } = verb;
  return {
    summary,
    flags,
    run: async (argv, context) => {
      const { port } = context;
      if (argv.some((argument) => argument === '--help' || argument === '-h')) {
        port.writeOutput(
          helpText(`Usage: bigfleet ${name} [<records-dir>] [flags]`, summary, flags),
        );
        return EXIT.ok;
      }
      const parsed = parseFlags(flags, argv, { maxWords: 1 });
      const problem = parsed.ok ? verb.problem?.(parsed.value.values) : parsed.error;
      if (!parsed.ok || problem !== undefined) {
        port.writeError(`bigfleet ${name}: ${problem ?? ''}; see bigfleet ${name} --help\n`);
        return EXIT.usage;
      }
      const { values, words } = parsed.value;
      const directory = words[0] ?? (values['records-dir'] as string);
      try {
        if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) {
          return await verb.run(directorySegments(directory), values, context);
        }
        port.writeError(
          `bigfleet ${name}: there is no directory ${directory}; ` +
            `name the one that the shard was given with --records-dir\n`,
        );
      } catch (error) {
        // What the file system refuses, to another user for example, is no bug.
        if (!isFileError(error)) throw error;
        port.writeError(`bigfleet ${name}: ${directory} cannot be read: ${error.message}\n`);
      }
      return EXIT.failed;
    },
  };
}
