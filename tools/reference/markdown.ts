// What generated pages are made of. Text from .proto files, schemas and catalogues is data: a pipe
// would end a cell, and an angle bracket would start a tag.

/** A table, or one sentence where there would be no rows. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  empty = 'None.',
): string {
  if (rows.length === 0) return empty;
  const wrong = rows.find((row) => row.length !== heads.length);
  if (wrong !== undefined) throw new Error(`a row of ${wrong.length} cells: ${wrong.join(' | ')}`);
  const lines = [heads, heads.map(() => '---'), ...rows];
  return lines
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
    .replaceAll('| --- |', '|---|')
    .replaceAll('| --- ', '|---');
}

/** A table without the columns that no row fills. */
export function filledTable(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const isFilled = heads.map((_, at) => rows.some((row) => row[at] !== ''));
  const filled = (cells: readonly string[]): string[] => cells.filter((_, at) => isFilled[at]);
  return table(filled(heads), rows.map(filled));
}

/** Prose of a comment or a description, as one cell. */
export function cell(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')
    .replace(/(?<![\\`*])\*(?!\*)/g, '\\*');
}

/** Code in a cell; a pipe inside would end the cell even there. */
export function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

export function page(parts: readonly string[]): string {
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}
