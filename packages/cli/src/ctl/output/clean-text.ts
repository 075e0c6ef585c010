// Text of servers on its way to a terminal. Names, errors and reasons come from other processes; an
// escape sequence among them could repaint the screen or retitle the window, a line break would
// forge a row.

const CONTROL = /[\p{Cc}\u2028\u2029]/gu;

/** Control characters in their escaped spelling, everything else as it is. */
export function cleanText(text: string): string {
  return text.replace(CONTROL, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
