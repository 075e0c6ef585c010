// What a verb answers: lines for people, a document for programs, and what could not be asked. The
// verb does not print: how it is printed, and whether again and again, is the frame's business.

import { type Column, type TableForm, tableLines } from './table.ts';
import type { Style } from './style.ts';

export interface Report {
  /** For -o table and -o wide. */
  readonly lines: (form: TableForm, style: Style) => readonly string[];
  /** For -o json and -o yaml. */
  readonly document: unknown;
  /** One line each, for stderr: a shard that did not answer, rows that were left out. */
  readonly problems: readonly string[];
  /** Default: 0 without problems. */
  readonly exitCode?: number;
}

/** A table keeps its rows: `describe` looks among them. */
export interface TableReport<Row> extends Report {
  readonly rows: readonly Row[];
}

export interface TableOptions<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly problems?: readonly string[];
  readonly exitCode?: number;
}

export function tableReport<Row>(options: TableOptions<Row>): TableReport<Row> {
  const { columns, rows, problems = [], exitCode } = options;
  return {
    rows,
    lines: (form, style) => tableLines(columns, rows, { form, style }),
    document: rows,
    problems,
    ...(exitCode === undefined ? {} : { exitCode }),
  };
}

/** Lines that are the same in both forms. */
export function textReport(
  lines: readonly string[],
  document: unknown,
  more: { readonly problems?: readonly string[]; readonly exitCode?: number } = {},
): Report {
  const { problems = [], exitCode } = more;
  return {
    lines: () => lines,
    document,
    problems,
    ...(exitCode === undefined ? {} : { exitCode }),
  };
}
