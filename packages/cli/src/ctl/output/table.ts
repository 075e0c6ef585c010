// Tables as coordinator §12.2 wants them: a header, columns padded with spaces, two between them,
// no line ending in a space. An empty cell is a dash, so that columns can be counted by eye.

import type { Style, Tone } from './style.ts';
import { cleanText, NOTHING } from './text.ts';

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string;
  /** Only in the wide form. */
  readonly isWide?: boolean | undefined;
  readonly tone?: ((row: Row) => Tone | undefined) | undefined;
}

export type TableForm = 'table' | 'wide';

const GAP = '  ';

interface Cell {
  readonly text: string;
  readonly tone: Tone | undefined;
}

export function tableLines<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { form, style }: { readonly form: TableForm; readonly style: Style },
): readonly string[] {
  const shown = columns.filter(({ isWide }) => form === 'wide' || isWide !== true);
  const header = shown.map(({ title }): Cell => ({ text: title, tone: 'strong' }));
  const cells = rows.map((row) =>
    shown.map(({ of, tone }): Cell => ({ text: shownText(of(row)), tone: tone?.(row) })),
  );
  const widths = shown.map((_, at) => widest([header, ...cells], at));
  return [header, ...cells].map((line) => lineOf(line, widths, style));
}

function lineOf(cells: readonly Cell[], widths: readonly number[], style: Style): string {
  const last = cells.length - 1;
  return cells
    .map(({ text, tone }, at) => {
      const padding = at === last ? '' : ' '.repeat((widths[at] ?? 0) - widthOf(text));
      return `${style.paint(text, tone)}${padding}`;
    })
    .join(GAP);
}

function widest(lines: readonly (readonly Cell[])[], at: number): number {
  let width = 0;
  for (const line of lines) width = Math.max(width, widthOf(line[at]?.text ?? ''));
  return width;
}

function shownText(text: string): string {
  return text === '' ? NOTHING : cleanText(text);
}

/** Code points: the ids of this domain hold no wide characters. */
function widthOf(text: string): number {
  return Array.from(text).length;
}
