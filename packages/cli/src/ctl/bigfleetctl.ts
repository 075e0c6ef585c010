// The front door `bigfleetctl <verb>` (coordinator §12.2). Global flags may stand before the verb.

import { flagLines, matchFlag, refusalText } from '@bigfleet/process/flags';
import { nodeProblem } from '@bigfleet/process';
import type { CtlContext } from './context.ts';
import { globalFlags } from './frame/flags.ts';
import { type Verb, VERB_GROUPS } from './frame/verb.ts';
import { CTL_EXIT, EXIT_CODE_TEXTS } from './output/report.ts';
import { nameHint } from './output/text.ts';
import { VERBS } from './verbs/index.ts';

const NAME_WIDTH = 26;

export async function runBigfleetctl(
  argv: readonly string[],
  context: CtlContext,
): Promise<number> {
  const { port } = context;
  const wrongNode = nodeProblem(port.nodeVersion);
  if (wrongNode !== undefined) return refuse(context, wrongNode);
  const split = splitAtVerb(argv);
  const { flags, words, rest } = split;
  const [first = ''] = words;
  if (first === 'help' || (first === '' && flags.some(isHelp))) {
    return help(context, first === 'help' ? [...words.slice(1), ...rest] : []);
  }
  if (first === '') {
    const unknown = flags.map((flag) => matchFlag(globalFlags, flag)).find(({ ok }) => !ok);
    if (unknown?.ok === false && flags.length === 1)
      return refuse(context, refusalText(unknown.error));
    port.writeError(`bigfleetctl: no verb; there are:\n${verbLines().join('\n')}\n`);
    return CTL_EXIT.failed;
  }
  const verb = findVerb(words);
  if (verb !== undefined) {
    const behind = words.slice(verb.name.split(' ').length);
    return verb.execute([...flags, ...behind, ...rest], context);
  }
  return refuse(context, unknownVerb(words));
}

interface SplitArguments {
  /** What stands before the verb, values with their flags. */
  readonly flags: readonly string[];
  /** The verb: up to two words. */
  readonly words: readonly string[];
  readonly rest: readonly string[];
}

function splitAtVerb(argv: readonly string[]): SplitArguments {
  let at = 0;
  while (at < argv.length && (argv[at] ?? '').startsWith('-') && argv[at] !== '--') {
    const match = matchFlag(globalFlags, argv[at] ?? '');
    const takesNext =
      match.ok && match.value.inline === undefined && match.value.flag.form !== undefined;
    at += takesNext ? 2 : 1;
  }
  const words: string[] = [];
  let end = at;
  while (end < argv.length && words.length < 2 && !(argv[end] ?? '').startsWith('-')) {
    words.push(argv[end] ?? '');
    end += 1;
  }
  return { flags: argv.slice(0, at), words, rest: argv.slice(end) };
}

function findVerb(words: readonly string[]): Verb | undefined {
  const two = words.slice(0, 2).join(' ');
  return VERBS.find(({ name }) => name === two) ?? VERBS.find(({ name }) => name === words[0]);
}

function unknownVerb(words: readonly string[]): string {
  const [first = '', second] = words;
  const below = VERBS.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name);
  if (below.length > 0) {
    const problem =
      second === undefined ? 'needs one more word' : `has no ${JSON.stringify(second)}`;
    return `${first} ${problem}: ${below.join(', ')}`;
  }
  const known = new Set(VERBS.map(({ name }) => name.split(' ')[0] ?? ''));
  const hint = nameHint(known, first, 'bigfleetctl --help lists them');
  return `unknown verb ${JSON.stringify(first)}; ${hint}`;
}

function isHelp(argument: string): boolean {
  return argument === '--help' || argument === '-h';
}

async function help(context: CtlContext, words: readonly string[]): Promise<number> {
  const { port } = context;
  if (words.length === 0) {
    port.writeOutput(usageText());
    return CTL_EXIT.ok;
  }
  const verb = findVerb(words);
  return verb === undefined
    ? refuse(context, unknownVerb(words))
    : verb.execute(['--help'], context);
}

function refuse({ port }: CtlContext, problem: string): number {
  port.writeError(`bigfleetctl: ${problem}\n`);
  return CTL_EXIT.failed;
}

function usageText(): string {
  const exits = EXIT_CODE_TEXTS.map(([code, meaning]) => `  ${code}  ${meaning}`);
  return `${[
    'Usage: bigfleetctl <verb> [flags]',
    '',
    'Looks at and steers a BigFleet installation: coordinator, shards, providers.',
    '',
    ...verbLines(),
    '',
    'Global flags:',
    ...flagLines(globalFlags),
    '',
    'Exit codes:',
    ...exits,
    '',
    'bigfleetctl <verb> --help shows the flags of a verb, with examples.',
  ].join('\n')}\n`;
}

function verbLines(): string[] {
  return VERB_GROUPS.flatMap((group, at) => [
    ...(at === 0 ? [] : ['']),
    `${group}:`,
    ...VERBS.filter((verb) => verb.group === group).map(
      ({ name, summary }) => `  ${name.padEnd(NAME_WIDTH)} ${summary}`,
    ),
  ]);
}
