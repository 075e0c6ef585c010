// A finding may quote what a provider sent: no line break and no escape sequence of it may reach
// a terminal or break a line-oriented log.

const unprintable = /[\p{Cc}\u2028\u2029]+/gu;

export function oneLine(text: string): string {
  return text.toWellFormed().replace(unprintable, ' ').trim();
}
