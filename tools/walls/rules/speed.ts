// No test holds a duration to an upper bound: on a busy machine it fails without a fault. A lower
// bound (a timer that fired early), a hang guard, the time box of a loop and virtual time
// (`time.nowMs`) are no bars. bench/ is where speed is measured; a long test may print it.

import type { Token } from '../lex.ts';
import type { Finding, Rule } from '../rule.ts';
import { isSource, type TreeFile } from '../tree.ts';

export const noSpeedBars: Rule = {
  id: 'no-speed-bars',
  forbids: 'an upper bound on elapsed or processor time in *.test.ts and *.long.ts',
  instead: 'wait for the event, use virtual time, or measure it in bench/',
  scope: (path) => isSource(path) && /\.(?:test|long)\.[jt]sx?$/.test(path),
  inspect: inspectSpeed,
};

/** What a test reads only to judge speed. */
const PROCESSOR_TIME: ReadonlySet<string> = new Set(['cpuUsage', 'hrtime', 'resourceUsage']);

function inspectSpeed({ source }: TreeFile): Finding[] {
  const tokens = source?.tokens ?? [];
  const found: Finding[] = [];
  const durations = new Set<string>();
  for (const [at, { kind, text, line }] of tokens.entries()) {
    if (kind !== 'name') continue;
    const after = elapsedEnd(tokens, at) ?? at + 1;
    if (after > at + 1) durations.add(nameOf(tokens, at) ?? '');
    const isDuration = after > at + 1 || durations.has(text);
    const isBounded = tokens[after]?.text.startsWith('<') === true;
    if (isDuration && isBounded && !isInLoopHead(tokens, at)) {
      found.push({ line, message: `holds ${text} to an upper bound` });
    }
    if (PROCESSOR_TIME.has(text) && tokens[at - 2]?.text === 'process') {
      found.push({ line, message: `uses process.${text}` });
    }
  }
  return found;
}

/** Of `while (…)` and `for (…; …; …)`: how long to go on, not whether it was fast. */
function isInLoopHead(tokens: readonly Token[], at: number): boolean {
  let depth = 0;
  for (let before = at - 1; before > 0; before -= 1) {
    const { kind, text } = tokens[before] ?? { kind: 'punct', text: '' };
    if (kind !== 'punct') continue;
    if (text === '}' && depth === 0) return false;
    if (text === ')') depth += 1;
    if (text !== '(') continue;
    if (depth === 0) return /^(?:while|for)$/.test(tokens[before - 1]?.text ?? '');
    depth -= 1;
  }
  return false;
}

/** Behind `monotonicMs() - start`; undefined when there is none at `at`. */
function elapsedEnd(tokens: readonly Token[], at: number): number | undefined {
  const texts = [0, 1, 2, 3].map((offset) => tokens[at + offset]?.text).join(' ');
  return texts === 'monotonicMs ( ) -' ? at + 5 : undefined;
}

/** Of `const name = some.clock.monotonicMs() - start`. */
function nameOf(tokens: readonly Token[], at: number): string | undefined {
  let first = at;
  while (tokens[first - 1]?.text === '.') first -= 2;
  return tokens[first - 1]?.text === '=' ? tokens[first - 2]?.text : undefined;
}
