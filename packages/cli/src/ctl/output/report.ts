// What a verb answers: lines for people, a document for programs, what could not be asked, and the
// exit code. The verb does not print: how it is printed, and whether again and again, is the frame's
// business.

import type { Style } from './style.ts';
import { type Column, type TableForm, tableLines } from './table.ts';

/** Exit codes of bigfleetctl (coordinator §12.2). */
export const CTL_EXIT = { ok: 0, failed: 1, errorsFound: 2, partial: 3 } as const;

/** The one table that --help and the reference page print. */
export const EXIT_CODE_TEXTS: readonly (readonly [code: number, meaning: string])[] = [
  [CTL_EXIT.ok, 'as asked; also Ctrl-C in --watch and --follow'],
  [CTL_EXIT.failed, 'refused, unreachable or a wrong command line; doctor: warnings'],
  [CTL_EXIT.errorsFound, 'doctor only: at least one error was found'],
  [CTL_EXIT.partial, 'some shards answered, others did not; stderr names them'],
];

export interface Report {
  /** For -o table and -o wide. */
  readonly lines: (form: TableForm, style: Style) => readonly string[];
  /** For -o json and -o yaml. */
  readonly document: unknown;
  /** One line each, for stderr: a shard that did not answer, rows that were left out. */
  readonly problems: readonly string[];
  /** Default: 0 without problems, 3 with some. */
  readonly exitCode?: number | undefined;
}

/** A table keeps its rows: `describe` looks among them. */
export interface TableReport<Row> extends Report {
  readonly rows: readonly Row[];
}

export interface TableOptions<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly problems?: readonly string[] | undefined;
  readonly exitCode?: number | undefined;
}

export function tableReport<Row>(options: TableOptions<Row>): TableReport<Row> {
  const { columns, rows, problems = [], exitCode } = options;
  const lines: Report['lines'] = (form, style) => tableLines(columns, rows, { form, style });
  return { rows, lines, document: rows, problems, exitCode };
}

/** Lines that are the same in both forms. */
export function textReport(
  lines: readonly string[],
  document: unknown,
  { problems = [], exitCode }: Partial<Pick<Report, 'problems' | 'exitCode'>> = {},
): Report {
  return { lines: () => lines, document, problems, exitCode };
}
