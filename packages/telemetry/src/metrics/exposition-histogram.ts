// What makes the samples of a histogram family believable: per label set, bounds ascend in their
// canonical spelling up to +Inf, counts never shrink, and `_count` equals the +Inf bucket.

import type { ParsedFamily, ParsedSample } from './exposition.ts';

interface Group {
  readonly buckets: ParsedSample[];
  sum: number | undefined;
  count: number | undefined;
}

/** Undefined when everything holds. */
export function histogramFault(family: ParsedFamily): string | undefined {
  for (const group of groups(family).values()) {
    const fault = groupFault(group);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function groups(family: ParsedFamily): ReadonlyMap<string, Group> {
  const byLabels = new Map<string, Group>();
  for (const sample of family.samples) {
    const key = labelKey([...sample.labels].filter(([name]) => name !== 'le'));
    const group = byLabels.get(key) ?? { buckets: [], sum: undefined, count: undefined };
    byLabels.set(key, group);
    if (sample.name.endsWith('_bucket')) group.buckets.push(sample);
    else if (sample.name.endsWith('_sum')) group.sum = sample.value;
    else group.count = sample.value;
  }
  return byLabels;
}

/** Equal for equal label sets, whatever the order in the text. */
export function labelKey(labels: readonly (readonly [string, string])[]): string {
  return JSON.stringify(labels.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function groupFault(group: Group): string | undefined {
  let previous = { bound: Number.NEGATIVE_INFINITY, count: 0 };
  for (const bucket of group.buckets) {
    const le = bucket.labels.get('le');
    if (le === undefined) return 'bucket without le';
    const bound = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le);
    if (le !== '+Inf' && String(bound) !== le) return `le ${le} is not its canonical decimal`;
    if (!(bound > previous.bound)) return `le ${le} is out of order`;
    if (!(bucket.value >= previous.count)) return `bucket ${le} is below the one before it`;
    previous = { bound, count: bucket.value };
  }
  if (previous.bound !== Number.POSITIVE_INFINITY) return 'no +Inf bucket';
  if (group.sum === undefined || group.count === undefined) return 'no _sum or no _count';
  return group.count === previous.count ? undefined : '_count differs from the +Inf bucket';
}
