// The command line of bench/run.ts. Unknown flags, contradictions and nonsense numbers are usage
// errors with a message, never a silent default.

import { parseArgs } from 'node:util';

export interface RunArgs {
  readonly kind: 'run';
  readonly pattern: string;
  readonly output: 'table' | 'json';
  readonly folder?: string;
  readonly resultsFolder?: string;
  readonly baselinePath?: string;
  readonly iterations?: number;
  readonly failOnRegression?: number;
  readonly updateBaseline: boolean;
  readonly measureAllocations: boolean;
}

export interface CompareArgs {
  readonly kind: 'compare';
  readonly pattern: string;
  readonly output: 'table' | 'json';
  readonly revisions: readonly [string, string];
  readonly rounds: number;
  readonly iterations?: number;
}

export type CliArgs =
  | RunArgs
  | CompareArgs
  | { readonly kind: 'list'; readonly pattern: string; readonly folder?: string }
  | { readonly kind: 'help' }
  | { readonly kind: 'usage'; readonly message: string };

export const HELP = `Usage: node bench/run.ts [options]        (or: make bench BENCH='<glob>')

Runs named benchmark shapes, each in its own process, and writes bench/results/latest.json.

  --bench <glob>              shapes to run; * also crosses slashes, {a,b} alternatives (default *)
  --list                      print the matching names and stop
  --iterations <n>            timed iterations instead of what each shape states
  -o, --output table|json     what to print on stdout (default table)
  --no-alloc                  skip the allocation pass
  --fail-on-regression <x>    also fail when a p50 in K exceeds x times the baseline
  --update-baseline           write the steady rows of this run to bench/baseline.json
  --compare <revA> <revB>     interleave two revisions; '.' is the working tree as it is
  --rounds <n>                pairs of runs in compare mode (default 9)
  --results <dir>             results folder instead of bench/results
  --baseline <file>           baseline instead of bench/baseline.json
  --dir <dir>                 look for *.bench.ts there instead of bench
  -h, --help                  this text

Exit codes: 0 all bars hold, 1 a bar or a shape failed, 2 usage.

Example: node bench/run.ts --bench 'base/*' --iterations 200
         node bench/run.ts --compare HEAD~1 . --bench 'base/*'
`;

export function parseCli(argv: readonly string[]): CliArgs {
  try {
    return interpret(argv);
  } catch (error) {
    // parseArgs throws for unknown flags and missing values, and so do the checks below.
    return { kind: 'usage', message: error instanceof Error ? error.message : String(error) };
  }
}

function interpret(argv: readonly string[]): CliArgs {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      bench: { type: 'string', default: '*' },
      list: { type: 'boolean', default: false },
      iterations: { type: 'string' },
      output: { type: 'string', short: 'o', default: 'table' },
      'no-alloc': { type: 'boolean', default: false },
      'fail-on-regression': { type: 'string' },
      'update-baseline': { type: 'boolean', default: false },
      compare: { type: 'string' },
      rounds: { type: 'string' },
      results: { type: 'string' },
      baseline: { type: 'string' },
      dir: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return { kind: 'help' };
  const pattern = values.bench === '' ? '*' : values.bench;
  const folder = optional('folder', values.dir);
  if (values.list) return { kind: 'list', pattern, ...folder };

  const output = oneOf(values.output, ['table', 'json']);
  const iterations = optional('iterations', wholeNumber('--iterations', values.iterations));
  if (values.compare !== undefined) {
    const [other] = positionals;
    demand(other !== undefined && positionals.length === 1, '--compare takes two revisions');
    const rounds = wholeNumber('--rounds', values.rounds) ?? 9;
    const revisions = [values.compare, other] as const;
    return { kind: 'compare', pattern, output, revisions, rounds, ...iterations };
  }
  demand(positionals.length === 0, `unexpected argument '${positionals[0] ?? ''}'`);
  demand(values.rounds === undefined, '--rounds belongs to --compare');
  demand(
    !values['update-baseline'] || values.iterations === undefined,
    '--update-baseline needs the stated iterations: leave out --iterations',
  );
  return {
    kind: 'run',
    pattern,
    output,
    ...folder,
    ...iterations,
    ...optional('resultsFolder', values.results),
    ...optional('baselinePath', values.baseline),
    ...optional('failOnRegression', factor(values['fail-on-regression'])),
    updateBaseline: values['update-baseline'],
    measureAllocations: !values['no-alloc'],
  };
}

function demand(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message);
}

function oneOf<const Choice extends string>(value: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((candidate) => candidate === value);
  demand(choice !== undefined, `'${value}' is not one of ${choices.join(', ')}`);
  return choice;
}

function wholeNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  demand(/^[1-9][0-9]{0,6}$/.test(text), `${flag} takes a whole number of 1 to 9,999,999`);
  return Number(text);
}

function factor(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  demand(Number.isFinite(value) && value >= 1, '--fail-on-regression takes a factor of 1 or more');
  return value;
}

/** Absent stays absent: exactOptionalPropertyTypes tells `undefined` from missing. */
function optional<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [Name in Key]?: Value } {
  if (value === undefined) return {};
  return { [key]: value } as { readonly [Name in Key]: Value };
}
