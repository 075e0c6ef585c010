// Colours, for a terminal only and never with NO_COLOR: a pipe must not see escape codes.

import type { ProcessPort } from '@bigfleet/process';

export type Tone = 'good' | 'warn' | 'bad' | 'dim' | 'strong';

export interface Style {
  paint(text: string, tone: Tone | undefined): string;
}

const CODES: Readonly<Record<Tone, string>> = {
  good: '32',
  warn: '33',
  bad: '31',
  dim: '2',
  strong: '1',
};

export const plainStyle: Style = { paint: (text) => text };

const colourStyle: Style = {
  paint: (text, tone) => (tone === undefined ? text : `\u001b[${CODES[tone]}m${text}\u001b[0m`),
};

/** NO_COLOR counts when it is set to anything but nothing (no-color.org); TERM=dumb too. */
export function styleFor(port: Pick<ProcessPort, 'env'> & { readonly isTerminal: boolean }): Style {
  const { isTerminal, env } = port;
  const isUnwanted = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  return isTerminal && !isUnwanted ? colourStyle : plainStyle;
}

/** A colour, or a character that takes a column: cleaned text has no control characters but paint. */
const STYLED = /\p{Cc}\[\d+m|[\s\S]/gu;

/** So many columns of a painted line; colours beyond them stay, because the last one ends the paint. */
export function cutStyled(line: string, columns: number): string {
  let left = columns;
  return line.replace(STYLED, (part) => {
    if (part.startsWith('\u001b')) return part;
    left -= 1;
    return left < 0 ? '' : part;
  });
}
