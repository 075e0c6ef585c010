// The selectors of a PromQL expression: which names with which labels it asks for. Enough of the grammar
// for expressions of this repository; a name in no selector (`job`, `rate`, `vector`) is not a series.

export interface Selector {
  /** Exact, or a regular expression without its anchors. */
  readonly name: { readonly exact: string } | { readonly pattern: string };
  readonly labels: readonly {
    readonly label: string;
    readonly isPattern: boolean;
    readonly value: string;
  }[];
}

const PREFIXES = /^(?:bigfleet|nodejs|process)_/;
const MATCHER = /([a-zA-Z_]+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g;
const SELECTOR =
  /([a-zA-Z_:][a-zA-Z0-9_:]*)?\{([^}]*)\}|\b((?:bigfleet|nodejs|process)_[a-z0-9_]+)\b/g;

export function selectorsOf(expr: string): readonly Selector[] {
  return [...expr.matchAll(SELECTOR)].flatMap(([, named, matchers = '', bare]) => {
    const all = [...matchers.matchAll(MATCHER)].map(
      ([, label = '', operator = '', value = '']) => ({
        label,
        operator,
        value,
      }),
    );
    const byName = all.find(({ label, operator }) => label === '__name__' && operator === '=~');
    const exact = named ?? bare;
    if (exact !== undefined && !PREFIXES.test(exact)) return [];
    const name = byName === undefined ? { exact: exact ?? '' } : { pattern: byName.value };
    const labels = all
      .filter(({ label }) => label !== '__name__')
      .map(({ label, operator, value }) => ({ label, value, isPattern: operator.endsWith('~') }));
    return [{ name, labels }];
  });
}
