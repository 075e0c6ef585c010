// Completion for fish: one `complete` line for each verb, word and flag, with its description.

import { type CompletionFlag, type CompletionModel, verbTree } from './model.ts';

const COMMAND = 'complete -c bigfleetctl';

export function fishCompletion(model: CompletionModel): string {
  const { verbs, globals } = model;
  const tree = verbTree(model);
  const lines = [
    '# fish completion for bigfleetctl; load it with:',
    '#   bigfleetctl completion fish | source',
    `${COMMAND} -f`,
    ...globals.map((flag) => flagLine(flag)),
  ];
  for (const [first, below] of tree) {
    const summary = verbs.find(({ name }) => name === first)?.summary ?? below.join(', ');
    lines.push(`${COMMAND} -n __fish_use_subcommand -a ${quoted(first)} -d ${quoted(summary)}`);
  }
  for (const { name, summary, words, flags } of verbs) {
    const [first = '', second] = name.split(' ');
    const seen = `__fish_seen_subcommand_from ${first}`;
    if (second !== undefined) {
      const open = `${seen}; and not __fish_seen_subcommand_from ${(tree.get(first) ?? []).join(' ')}`;
      lines.push(`${COMMAND} -n ${quoted(open)} -a ${second} -d ${quoted(summary)}`);
    }
    const within =
      second === undefined ? seen : `${seen}; and __fish_seen_subcommand_from ${second}`;
    for (const choices of words) {
      if (choices.length === 0) continue;
      const unsaid = `${within}; and not __fish_seen_subcommand_from ${choices.join(' ')}`;
      lines.push(`${COMMAND} -n ${quoted(unsaid)} -a ${quoted(choices.join(' '))}`);
    }
    for (const flag of flags) lines.push(flagLine(flag, within));
  }
  return `${lines.join('\n')}\n`;
}

function flagLine(flag: CompletionFlag, within?: string): string {
  const { name, short, help, takesValue, choices, isFile } = flag;
  return [
    COMMAND,
    ...(within === undefined ? [] : [`-n ${quoted(within)}`]),
    `-l ${name}`,
    ...(short === undefined ? [] : [`-s ${short}`]),
    ...(takesValue ? [isFile ? '-r -F' : '-x'] : []),
    ...(choices.length === 0 ? [] : [`-a ${quoted(choices.join(' '))}`]),
    `-d ${quoted(help)}`,
  ].join(' ');
}

/** In fish a backslash escapes within single quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
