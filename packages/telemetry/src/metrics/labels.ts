// Label sets, declared before the first sample. A closed label lists its values; anything else is a
// bug of ours and asserts. An open label (cluster, shard, provider) takes values from outside, so it
// has a stated maximum and never asserts on a value. A family has at most one open label, so its
// series are rows (one per open value) of one fixed width (all combinations of the closed values).

import { assert } from '@bigfleet/base';

export interface OpenLabel {
  /** Most values alive at once; a further one is dropped and counted. */
  readonly max: number;
}

export type LabelDeclaration = readonly string[] | OpenLabel;

export type LabelDeclarations = Readonly<Record<string, LabelDeclaration>>;

export type LabelValues<L extends LabelDeclarations> = {
  readonly [K in keyof L]: L[K] extends readonly (infer V extends string)[] ? V : string;
};

/** One series' labels, in declaration order. Built once per series, shared by every scrape. */
export type LabelPairs = Readonly<Record<string, string>>;

interface ClosedDimension {
  readonly name: string;
  readonly values: readonly string[];
  readonly indexOf: ReadonlyMap<string, number>;
}

const LABEL_NAME = /^[a-zA-Z][a-zA-Z0-9_]*$/;
const MAX_CLOSED_COMBINATIONS = 4_096;
const MAX_OPEN_VALUES = 10_000;
const MAX_OPEN_VALUE_LENGTH = 512;

export class LabelSpace {
  /** Combinations of the closed labels: the width of one row. */
  readonly closedCount: number;
  readonly open: (OpenLabel & { readonly name: string }) | undefined;
  readonly names: readonly string[];
  readonly #closed: readonly ClosedDimension[];

  constructor(declarations: LabelDeclarations) {
    this.names = Object.keys(declarations);
    const closed: ClosedDimension[] = [];
    let open: LabelSpace['open'];
    for (const [name, declaration] of Object.entries(declarations)) {
      assert(LABEL_NAME.test(name) && name !== 'le', 'label name not allowed', { name });
      if (!('max' in declaration)) closed.push(closedDimension(name, declaration));
      else {
        assert(open === undefined, 'a family has at most one open label', { name });
        assert(declaration.max > 0 && declaration.max <= MAX_OPEN_VALUES, 'open label bound', {
          name,
          max: declaration.max,
        });
        open = { name, max: declaration.max };
      }
    }
    this.#closed = closed;
    this.open = open;
    this.closedCount = closed.reduce((product, label) => product * label.values.length, 1);
    assert(this.closedCount <= MAX_CLOSED_COMBINATIONS, 'too many closed label combinations', {
      combinations: this.closedCount,
    });
  }

  /** Place of a combination inside its row; the last declared closed label varies fastest. */
  closedIndex(values: Readonly<Record<string, string>>): number {
    let index = 0;
    for (const label of this.#closed) {
      const value = values[label.name];
      const at = value === undefined ? undefined : label.indexOf.get(value);
      assert(at !== undefined, 'value outside a closed label set', { label: label.name, value });
      index = index * label.values.length + at;
    }
    return index;
  }

  /** The labels of one series, `openValue` being ignored where no label is open. */
  pairs(closedIndex: number, openValue: string): LabelPairs {
    const pairs: Record<string, string> = {};
    // In declaration order first, because the order of a series' labels is that of its keys.
    for (const name of this.names) pairs[name] = openValue;
    let rest = closedIndex;
    for (let at = this.#closed.length - 1; at >= 0; at--) {
      const { name, values } = this.#closed[at] as ClosedDimension;
      pairs[name] = values[rest % values.length] ?? '';
      rest = Math.floor(rest / values.length);
    }
    return pairs;
  }
}

/**
 * Two spellings that become the same bytes would be one series twice, and Prometheus then refuses
 * the whole scrape: ill-formed UTF-16 (each lone surrogate becomes U+FFFD) and the empty value
 * (equal to no label) are therefore not representable; nor is NUL, which ends text for some readers.
 */
export function isRepresentable(openValue: string): boolean {
  return (
    openValue.length > 0 &&
    openValue.length <= MAX_OPEN_VALUE_LENGTH &&
    openValue.isWellFormed() &&
    !openValue.includes('\0')
  );
}

function closedDimension(name: string, values: readonly string[]): ClosedDimension {
  assert(values.length > 0, 'a closed label needs at least one value', { name });
  const indexOf = new Map(values.map((value, index) => [value, index]));
  assert(indexOf.size === values.length, 'a closed label lists a value twice', { name });
  assert(values.every(isRepresentable), 'a closed label lists an unusable value', { name });
  return { name, values, indexOf };
}
