// The form of the what-if page: its rows, the text of `set` that they stand for, and the command line that
// asks the same. What a change means and which values it may take is the engine's rule alone (parseChange):
// here is only how its text is taken apart for a form.

import { describeChange, parseChange } from '@bigfleet/engine';

export interface ChangeForm {
  readonly name: string;
  readonly label: string;
  /** What stands between the name and the value; undefined when nothing does. */
  readonly subject?: {
    readonly label: string;
    readonly example: string;
    readonly isOptional: boolean;
  };
  readonly value: { readonly label: string; readonly example: string };
}

const capacity = (name: string, label: string): ChangeForm => ({
  name,
  label,
  value: { label: 'fewer or more', example: '-20% or +40' },
});
const type = { label: 'of', example: 'spot, or m6i.large', isOptional: false };

export const CHANGE_FORMS: readonly ChangeForm[] = [
  capacity('reserved', 'Reserved machines'),
  capacity('on-demand', 'On-demand machines'),
  capacity('spot', 'Spot machines'),
  capacity('bare-metal', 'Bare-metal machines'),
  {
    name: 'price',
    label: 'Price',
    subject: type,
    value: { label: 'factor, or $ per hour', example: '×1.4 or 0.12' },
  },
  {
    name: 'interruption',
    label: 'Interruptions',
    subject: type,
    value: { label: 'factor, or probability', example: '×2 or 0.05' },
  },
  {
    name: 'lose-zone',
    label: 'A zone is lost',
    value: { label: 'zone, and when', example: 'zone-a@6h' },
  },
  { name: 'clusters', label: 'More clusters', value: { label: 'how many', example: '+8' } },
  {
    name: 'demand',
    label: 'Demand',
    subject: { label: 'of cluster', example: 'all', isOptional: true },
    value: { label: 'factor', example: '×1.3' },
  },
  {
    name: 'on-demand-hold',
    label: 'Hold idle on-demand',
    value: { label: 'for', example: '5m' },
  },
  { name: 'spot-hold', label: 'Hold idle spot', value: { label: 'for', example: '0' } },
];

export interface ChangeRow {
  readonly name: string;
  readonly subject: string;
  readonly value: string;
}

/** Questions that a capacity planner asks first. */
export const PRESETS: readonly {
  readonly label: string;
  readonly question: string;
  readonly set: string;
}[] = [
  {
    label: '20 % fewer reserved',
    question: 'Can the commitment shrink at its next renewal?',
    set: 'reserved=-20%',
  },
  {
    label: 'Spot prices × 1.4',
    question: 'What does a dear month of Spot cost, and what moves off it?',
    set: 'price:spot=×1.4',
  },
  {
    label: 'Spot lost twice as often',
    question: 'Is Spot still worth it, and for whom?',
    set: 'interruption:spot=×2',
  },
  {
    label: 'Eight more clusters',
    question: 'How many more teams does this fleet carry?',
    set: 'clusters=+8',
  },
  {
    label: '30 % more demand',
    question: 'What breaks first when everything grows?',
    set: 'demand=×1.3',
  },
];

/** The question in words: a ready one by its label, any other by its changes. */
export function questionOf(set: string): string {
  const lines = linesOf(set);
  return PRESETS.find((preset) => preset.set === set)?.label ?? lines.join(', ');
}

export function formOf(name: string): ChangeForm | undefined {
  return CHANGE_FORMS.find((form) => form.name === name);
}

/** Lines that are no change become rows all the same: the form shows them with what is wrong. */
export function rowsOf(set: string): readonly ChangeRow[] {
  return linesOf(set).map((line) => {
    const equals = line.indexOf('=');
    const left = equals < 0 ? line : line.slice(0, equals);
    const colon = left.indexOf(':');
    return {
      name: colon < 0 ? left : left.slice(0, colon),
      subject: colon < 0 ? '' : left.slice(colon + 1),
      value: equals < 0 ? '' : line.slice(equals + 1),
    };
  });
}

export function linesOf(set: string): readonly string[] {
  return set
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

export function lineOf({ name, subject, value }: ChangeRow): string {
  return `${name}${subject === '' ? '' : `:${subject}`}=${value}`;
}

/** What is wrong with a row, in the engine's words; empty when nothing is. */
export function wrongOf(row: ChangeRow): string {
  const parsed = parseChange(lineOf(row));
  return parsed.ok ? '' : parsed.error;
}

/** The text of `set`, in the engine's spelling, so that equal questions have equal URLs. */
export function setOf(rows: readonly ChangeRow[]): string {
  return rows
    .map((row) => {
      const parsed = parseChange(lineOf(row));
      return parsed.ok ? describeChange(parsed.value) : lineOf(row);
    })
    .join('\n');
}

/** What to type where the records are, to get the same answer. */
export function commandOf(set: string, seed: number): string {
  const changes = linesOf(set).map((line) => ` --set=${quoted(line)}`);
  return `bigfleet what-if --records-dir=<directory>${changes.join('')}${seed === 1 ? '' : ` --seed=${seed}`}`;
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
