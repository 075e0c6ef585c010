// The frame of the verbs that read a records directory: help, flags, how to print, and a directory that
// must be there. They need no shard: a copy of its directory is enough, or a single file of one.

import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { describeDiff, describeEnd, type DiffReport, type ReplayMode } from '@bigfleet/engine';
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

/** Oldest first. */
export async function traceNames(files: SegmentFiles): Promise<readonly string[]> {
  return (await files.list()).filter(({ kind }) => kind === 'trace').map(({ name }) => name);
}

/** One trace of a directory, decided twice. */
export interface ComparedTrace {
  readonly trace: string;
  readonly report: DiffReport;
}

/** Prints what was compared, and says whether there was anything: nothing compared is nothing the same. */
export function printCompared(
  verb: string,
  form: OfflineForm,
  compared: readonly ComparedTrace[],
  port: CommandContext['port'],
): boolean {
  const isEmpty = compared.every(
    ({ report }) => report.cycleCount === 0 && report.outcome !== 'failed',
  );
  if (isEmpty) {
    const ends = compared.map(({ trace, report }) => `${trace}: ${describeEnd(report.end)}`);
    port.writeError(`bigfleet ${verb}: no_cycle: no cycle can be read (${ends.join('; ')})\n`);
    return false;
  }
  const words = (): string =>
    compared.map(({ trace, report }) => `${trace}\n${describeDiff(report)}`).join('\n');
  port.writeOutput(offlineText(form, compared, words));
  return true;
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
    /** As it was given. */
    place: string,
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
          helpText(`Usage: bigfleet ${name} [<records-dir>|<file>] [flags]`, summary, flags),
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
      const place = words[0] ?? (values['records-dir'] as string);
      try {
        const files = segmentsAt(place);
        if (files !== undefined) return await verb.run(files, values, context, place);
        port.writeError(
          `bigfleet ${name}: there is no directory ${place}; ` +
            `name the one that the shard was given with --records-dir\n`,
        );
      } catch (error) {
        // What the file system refuses, to another user for example, is no bug.
        if (!isFileError(error)) throw error;
        port.writeError(`bigfleet ${name}: ${place} cannot be read: ${error.message}\n`);
      }
      return EXIT.failed;
    },
  };
}

function segmentsAt(place: string): SegmentFiles | undefined {
  const found = statSync(place, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return directorySegments(place);
  if (found?.isFile() !== true) return undefined;
  const name = path.basename(place);
  const kind = name.endsWith('.records') ? 'records' : 'trace';
  return {
    ...directorySegments(path.dirname(place)),
    list: async () => [{ name, kind, bytes: found.size }],
  };
}

/** Why there is nothing to replay: the directory is another one, or its files were renamed. */
export function noTraceText(verb: string, place: string): string {
  const renamed = readdirSync(place).find((name) => name.endsWith('.trace'));
  const why =
    renamed === undefined
      ? 'a shard writes traces beside its records, unless --records-max-bytes is 0 or too small'
      : `${renamed} is not named as a shard names its traces; give that file to read it alone`;
  return `bigfleet ${verb}: ${place} has no trace: ${why}\n`;
}
