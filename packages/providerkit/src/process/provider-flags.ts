// All flags of one provider: the common ones and its own, in one table; read from the command line and
// the environment. A typo that is ignored would start a provider that is not the one its operator
// described, so everything unknown is an error.

import { assert } from '@bigfleet/base';
import {
  blockLines,
  type Flag,
  type FlagTable,
  type Grammar,
  readArguments,
  readValues,
  type Refusal,
  refusalText,
  toggle,
  variableOf,
} from '@bigfleet/process/flags';
import { namesOf, type ProviderDefinition, type Settings } from './definition.ts';
import { commonFlags } from './common-flags.ts';

export type ProviderFlags<Own extends FlagTable> =
  | { readonly kind: 'settings'; readonly settings: Settings<Own> }
  /** `--help` and `--version`: print it to standard output and end well. */
  | { readonly kind: 'print'; readonly text: string }
  | { readonly kind: 'error'; readonly problem: string };

export interface FlagSources {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

const GRAMMAR: Grammar = { isTwoDashed: true, isLastCounted: true };
const PRINTED: FlagTable = {
  help: { ...toggle(false, 'Print this and exit.'), short: 'h' },
  version: toggle(false, 'Print the version and exit.'),
};

export function parseProviderFlags<Own extends FlagTable>(
  definition: ProviderDefinition<Own>,
  { argv, env }: FlagSources,
): ProviderFlags<Own> {
  const { command } = namesOf(definition);
  const table = providerFlagTable(definition);
  const given = readArguments({ ...table, ...PRINTED }, argv, GRAMMAR);
  if (!given.ok) return { kind: 'error', problem: problemText(given.error) };
  const { texts } = given.value;
  if (texts.has('help')) return { kind: 'print', text: helpText(command, table) };
  if (texts.has('version')) return { kind: 'print', text: `${command} ${definition.version}\n` };
  const values = readValues(table, texts, env);
  if (!values.ok) return { kind: 'error', problem: problemText(values.error) };
  // The table is exactly these two, which a spread of a generic one hides from the compiler.
  const flags = values.value as unknown as Settings<Own>['flags'];
  return { kind: 'settings', settings: { flags, env } };
}

function problemText(refusal: Refusal): string {
  switch (refusal.kind) {
    case 'unexpected':
      return `${refusalText(refusal)}: flags start with --`;
    case 'unknown':
      return `${refusalText(refusal)} (--help lists all)`;
    case 'invalid':
      return refusalText({ ...refusal, text: JSON.stringify(refusal.text) });
    default:
      return refusalText(refusal);
  }
}

function helpText(command: string, table: FlagTable): string {
  const example = Object.keys(table)[0] ?? '';
  return [
    `${command}: a capacity provider of BigFleet.`,
    '',
    `Every flag is also an environment variable: --${example} is ${variableOf(example)}.`,
    '',
    ...Object.entries(table).flatMap(([name, flag]) => {
      const fallback = flag.fallback === '' ? 'empty' : flag.fallback;
      return blockLines(`--${name}${valueForm(flag)}`, `${flag.help} Default: ${fallback}.`);
    }),
    ...Object.entries(PRINTED).flatMap(([name, { help }]) => blockLines(`--${name}`, help)),
    '',
  ].join('\n');
}

function valueForm({ form }: Flag<unknown>): string {
  return form === undefined ? '[=true|false]' : ` ${form.replace(/^<(.*)>$/, '$1')}`;
}

function providerFlagTable<Own extends FlagTable>(definition: ProviderDefinition<Own>): FlagTable {
  const common: FlagTable = commonFlags(namesOf(definition), definition.priceRefreshMs);
  const own: FlagTable = definition.flags ?? {};
  for (const name of Object.keys(own)) {
    assert(/^[a-z][a-z0-9-]*$/.test(name), 'a flag is named in kebab-case', { name });
    assert(!Object.hasOwn(common, name), 'a flag of a provider repeats a common one', { name });
  }
  return { ...common, ...own };
}

/** A flag whose name depends on the provider. */
export function dynamicFlag(flags: object, name: string): unknown {
  return Object.entries(flags).find(([key]) => key === name)?.[1];
}
