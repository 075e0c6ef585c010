// Tables of names read best as one line of words.

/** All words of the given lines, in order. */
export function words(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(' '));
}
