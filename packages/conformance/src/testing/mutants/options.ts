// The command line of `make conformance-mutants`.

import { parseArgs } from 'node:util';
import { describeThrown } from '@bigfleet/base';
import type { Mutant } from './mutant.ts';

export interface RunOptions {
  readonly mutants: readonly Mutant[];
  /** Every mutant of the registry. */
  readonly isWhole: boolean;
  /** Against all 93 behaviours instead of the named ones. */
  readonly isAgainstAll: boolean;
}

export type Command =
  | { readonly kind: 'run'; readonly options: RunOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'markdown' }
  | { readonly kind: 'wrong'; readonly problem: string };

export const helpText = `Usage: node packages/conformance/src/testing/mutants/main.ts [options]

Runs wrong providers against the conformance suite, in memory and under virtual time: each mutant
against the behaviours that claim to catch it, and the baseline.

  --only <name>   this mutant; may be repeated, or hold several names with commas
  --all           against all 93 behaviours: exactly the named ones must fail
  --markdown      print the table of docs/internals/conformance-mutants.md and run nothing
  --help          this text

Exit: 0 every mutant is caught as the registry says and no behaviour is left without one;
1 otherwise; 2 a wrong command line.
`;

export function parseCommand(argv: readonly string[], mutants: readonly Mutant[]): Command {
  const parsed = parse(argv);
  if (typeof parsed === 'string') return { kind: 'wrong', problem: parsed };
  const { help = false, markdown = false, all = false, only = [] } = parsed;
  if (help) return { kind: 'help' };
  if (markdown) return { kind: 'markdown' };
  const names = only.flatMap((text) => text.split(',')).filter((name) => name !== '');
  const unknown = names.find((wanted) => !mutants.some(({ name }) => name === wanted));
  if (unknown !== undefined) return { kind: 'wrong', problem: `no mutant is called ${unknown}` };
  const isWhole = only.length === 0;
  const chosen = isWhole ? mutants : mutants.filter(({ name }) => names.includes(name));
  if (chosen.length === 0) return { kind: 'wrong', problem: '--only names no mutant' };
  return { kind: 'run', options: { mutants: chosen, isWhole, isAgainstAll: all } };
}

interface Values {
  readonly help?: boolean;
  readonly markdown?: boolean;
  readonly all?: boolean;
  readonly only?: readonly string[];
}

/** Or what is wrong with it. */
function parse(argv: readonly string[]): Values | string {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        help: { type: 'boolean', short: 'h' },
        markdown: { type: 'boolean' },
        all: { type: 'boolean' },
        only: { type: 'string', multiple: true },
      },
    }).values;
  } catch (error) {
    return describeThrown(error);
  }
}
