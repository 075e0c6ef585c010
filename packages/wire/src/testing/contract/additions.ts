// The list of fields that we add to established messages, from its three sources: our committed
// table (api/additions.txt), the descriptors, and, where a clone has it beside it, the
// specification itself. Comparing all three keeps the rule of wire-additions.md §1 honest.

import { type DescFile, ScalarType } from '@bufbuild/protobuf';
import { tableLines } from './repository.ts';
import { messagesOf } from './schemas.ts';

export const firstAddedNumber = 1000;

/** One line per addition: `Message field number type`, with `repeated ` before the type. */
export function additionsInTable(text: string): string[] {
  return tableLines(text);
}

export function additionsInDescriptors(files: readonly DescFile[]): string[] {
  const additions: string[] = [];
  for (const message of messagesOf(files)) {
    for (const field of message.fields) {
      if (field.number < firstAddedNumber) continue;
      const scalar = field.scalar === undefined ? '' : (ScalarType[field.scalar] ?? '');
      const type = field.message?.name ?? field.enum?.name ?? scalar.toLowerCase();
      const label = field.fieldKind === 'list' ? 'repeated ' : '';
      additions.push(`${message.name} ${field.name} ${field.number} ${label}${type}`);
    }
  }
  return additions;
}

/** Rows of the tables headed Message, Field, #, Type in wire-additions.md §2 to §4. */
export function additionsInSpec(markdown: string): string[] {
  const additions: string[] = [];
  let message = '';
  for (const cells of tableRows(markdown, ['Message', 'Field', '#', 'Type'])) {
    const [messageCell = '', fieldCell = '', numberCell = '', typeCell = ''] = cells;
    if (messageCell !== '') message = plain(messageCell).replace(/\.payload$/, '');
    const fields = fieldCell.split(', ').map(plain);
    const numbers = numberCell.split(', ');
    const types = typesOf(typeCell, fields.length);
    for (const [index, field] of fields.entries()) {
      additions.push(`${message} ${field} ${numbers[index]} ${types[index]}`);
    }
  }
  return additions;
}

/** The type cell may continue with prose, and may name one type for several fields. */
function typesOf(cell: string, count: number): string[] {
  const listed = count > 1 ? cell.split(', ') : [cell];
  const types = listed.map((part) => {
    const match = /^(repeated )?`?(\w+)`?/.exec(part);
    return `${match?.[1] ?? ''}${match?.[2] ?? ''}`;
  });
  return Array.from({ length: count }, (_, index) => types[index] ?? types[0] ?? '');
}

export interface SpecType {
  readonly name: string;
  readonly isEnum: boolean;
  /** Field name, or the end of an enum value's name, to number. */
  readonly members: ReadonlyMap<string, number>;
}

/** Rows of the tables headed Type/Message, Fields in wire-additions.md §2, §3 and §5. */
export function typesInSpec(markdown: string): SpecType[] {
  const rows = [
    ...tableRows(markdown, ['Type', 'Fields']),
    ...tableRows(markdown, ['Type (`bigfleet.ext.v1alpha1`)', 'Fields']),
    ...tableRows(markdown, ['Message', 'Fields']),
  ];
  return rows.flatMap(([nameCell = '', fieldsCell = '']) => {
    const names = nameCell.split(' / ').map(plain);
    const fields = names.length > 1 ? fieldsCell.split(' / ') : [fieldsCell];
    return names.map((name, index) => ({
      // `ListXRequest` / `…Response`
      name: name
        .replace('enum ', '')
        .replace('…Response', (names[0] ?? '').replace(/Request$/, 'Response')),
      isEnum: name.startsWith('enum '),
      members: membersIn(fields[index] ?? ''),
    }));
  });
}

function membersIn(cell: string): Map<string, number> {
  return new Map(
    [...cell.matchAll(/`(?:…)?(\w+)`=(\d+)/g)].map((match) => [match[1] ?? '', Number(match[2])]),
  );
}

function tableRows(markdown: string, header: readonly string[]): string[][] {
  const rows: string[][] = [];
  let inside = false;
  for (const line of markdown.split('\n')) {
    if (!line.startsWith('|')) {
      inside = false;
      continue;
    }
    const cells = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (header.every((title, index) => cells[index] === title)) inside = true;
    else if (inside && !/^-+$/.test(cells[0] ?? '')) rows.push(cells);
  }
  return rows;
}

function plain(cell: string): string {
  return cell.replaceAll('`', '').trim();
}
