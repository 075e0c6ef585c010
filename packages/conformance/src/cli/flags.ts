// The parser of the command line. `-x`, `--x`, `-x value` and `-x=value` are the same, as users of
// the reference program expect. An unknown flag, a missing value and a flag given twice are
// errors: a typo must not pass for a weaker run.

import { FLAGS, type FlagName, type FlagSpec } from './flag-table.ts';

/** Switches hold 'true' or 'false'. */
export type FlagValues = ReadonlyMap<FlagName, string>;

export type ParsedFlags =
  | { readonly ok: true; readonly values: FlagValues }
  | { readonly ok: false; readonly problem: string };

export function parseFlags(argv: readonly string[]): ParsedFlags {
  const values = new Map<FlagName, string>();
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    const match = /^--?([A-Za-z0-9][A-Za-z0-9-]*)(?:=([^]*))?$/.exec(word);
    if (match === null)
      return { ok: false, problem: `unexpected argument ${JSON.stringify(word)}` };
    const [, name = '', inline] = match;
    const spec = FLAGS.find((flag) => flag.name === name);
    if (spec === undefined) return { ok: false, problem: `unknown flag -${name}${nearest(name)}` };
    const isSwitch = spec.value === undefined;
    const value = inline ?? (isSwitch ? 'true' : argv[++at]);
    const problem = valueProblem(spec, value);
    if (problem !== undefined) return { ok: false, problem };
    if (values.has(spec.name)) return { ok: false, problem: `-${name} is given twice` };
    values.set(spec.name, value ?? '');
  }
  return { ok: true, values };
}

function valueProblem(spec: FlagSpec, value: string | undefined): string | undefined {
  if (spec.value !== undefined) {
    return value === undefined || value === '' ? `-${spec.name} needs a value` : undefined;
  }
  return value === 'true' || value === 'false' ? undefined : `-${spec.name} takes no value`;
}

function nearest(name: string): string {
  const close = FLAGS.filter((flag) => distance(flag.name, name) <= 2).map(
    ({ name: flag }) => flag,
  );
  return close[0] === undefined ? '' : `: did you mean -${close[0]}?`;
}

/** Levenshtein; both words are short. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
