// --help of a verb, from its own table: usage, what it does, examples, flags.

import { flagLines } from '@bigfleet/process/flags';
import { globalFlags } from './global-flags.ts';
import type { Verb, Word } from './verb.ts';

export function verbHelp(verb: Verb): string {
  const own = flagLines(verb.flags);
  const sections = [
    [usageLine(verb)],
    [sentence(verb.summary), ...verb.details],
    ['Examples:', ...verb.examples.map((example) => `  bigfleetctl ${example}`)],
    ...(own.length === 0 ? [] : [['Flags:', ...own]]),
    ['Global flags:', ...flagLines(globalFlags)],
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function usageLine({ name, words, required }: Verb): string {
  const parts = [...words.map(wordText), ...required.map((flag) => `--${flag}=…`), '[flags]'];
  return `Usage: bigfleetctl ${name} ${parts.join(' ')}`;
}

function wordText({ name, isOptional }: Word): string {
  return isOptional === true ? `[<${name}>]` : `<${name}>`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
