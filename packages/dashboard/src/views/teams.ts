// Which team a cluster is of: the first pattern of the command line that matches its whole name. Nothing on
// the wire says it (dashboard §8).

import type { TeamPattern } from '../facts.ts';

/** Empty for a cluster that no pattern matches, and for none. */
export function teamOf(teams: readonly TeamPattern[], cluster: string): string {
  if (cluster === '') return '';
  return teams.find(({ pattern }) => isMatch(pattern, cluster))?.team ?? '';
}

/**
 * `*` stands for any text. The parts between stars are taken where they come first: linear in the name, so
 * that no pattern can hold an answer up.
 */
export function isMatch(pattern: string, name: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.pop();
  if (tail === undefined) return name === head;
  if (name.length < head.length + tail.length) return false;
  if (!name.startsWith(head) || !name.endsWith(tail)) return false;
  const end = name.length - tail.length;
  let at = head.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
