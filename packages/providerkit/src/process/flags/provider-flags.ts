// All flags of one provider: the common ones and its own, in one table.

import { assert } from '@bigfleet/base';
import type { ProviderDefinition, Settings } from '../definition.ts';
import { namesOf } from '../names.ts';
import { commonFlags } from './common-flags.ts';
import type { FlagTable } from './flag-table.ts';
import { helpText } from './help-text.ts';
import { type FlagSources, parseFlags } from './parse-flags.ts';

export type ProviderFlags<Own extends FlagTable> =
  | { readonly kind: 'settings'; readonly settings: Settings<Own> }
  /** `--help` and `--version`: print it to standard output and end well. */
  | { readonly kind: 'print'; readonly text: string }
  | { readonly kind: 'error'; readonly problem: string };

export function parseProviderFlags<Own extends FlagTable>(
  definition: ProviderDefinition<Own>,
  sources: FlagSources,
): ProviderFlags<Own> {
  const { command } = namesOf(definition);
  const table = providerFlagTable(definition);
  const parsed = parseFlags(table, sources);
  switch (parsed.kind) {
    case 'error':
      return parsed;
    case 'help': {
      const summary = 'a capacity provider of BigFleet.';
      return { kind: 'print', text: helpText({ command, summary, table }) };
    }
    case 'version':
      return { kind: 'print', text: `${command} ${definition.version}\n` };
    case 'values': {
      // The table is exactly these two, which a spread of a generic one hides from the compiler.
      const flags = parsed.values as Settings<Own>['flags'];
      return { kind: 'settings', settings: { flags, env: sources.env } };
    }
  }
}

function providerFlagTable<Own extends FlagTable>(definition: ProviderDefinition<Own>): FlagTable {
  const common: FlagTable = commonFlags({
    ...namesOf(definition),
    priceRefreshMs: definition.priceRefreshMs,
  });
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
