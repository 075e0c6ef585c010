// What a query must answer, and the comparison. Strict on purpose: labels are compared as sets, so
// that a series with one label more or less than a dashboard expects is an error, not a match.

import assert from 'node:assert/strict';
import type { PrometheusSample } from '../toolkit/index.ts';

/** Of a shard's processes; the names that alerts select by. */
export const JOB = 'bigfleet-shard';
export const COORDINATOR_JOB = 'bigfleet-coordinator';

/** Says what is wrong with a value, or undefined. */
export type Check = (value: number) => string | undefined;
/** An exact value, or a check where the world decides it. */
export type Measure = number | Check;

export interface Answer {
  /** Labels of every series, besides those of the scrape. */
  readonly by: readonly string[];
  /** Not aggregated: every series names its metric, job and instance too. */
  readonly isRaw?: boolean;
  /** Of the process that is asked about; the shard's unless told. */
  readonly job?: string;
  /** By the values of `by`, joined with commas. Nothing else may be there. */
  readonly values: Readonly<Record<string, Measure>>;
  readonly mayAlsoHave?: Readonly<Record<string, Measure>>;
}

/** How much is the world's to decide, a duration above all: a busy machine has no other labels. */
export const positive: Check = (value) =>
  value > 0 && Number.isFinite(value) ? undefined : 'is not positive';

export const zero: Check = (value) => (value === 0 ? undefined : 'is not 0');

const SCRAPE_LABELS = ['__name__', 'instance', 'job'];

export function assertAnswer(samples: readonly PrometheusSample[], answer: Answer): void {
  const { by, isRaw = false, job = JOB, values, mayAlsoHave = {} } = answer;
  const labels = [...(isRaw ? SCRAPE_LABELS : []), ...by].sort();
  const found = new Set<string>();
  for (const sample of samples) {
    assert.deepEqual(Object.keys(sample.labels).sort(), labels, 'labels of a series');
    if (isRaw) assert.equal(sample.labels['job'], job);
    const key = by.map((label) => sample.labels[label]).join(',');
    assert.ok(!found.has(key), `two series {${key}}`);
    found.add(key);
    const measure = values[key] ?? mayAlsoHave[key];
    assert.ok(measure !== undefined, `a series {${key}} that nobody expects`);
    assertValue(key, sample.value, measure);
  }
  const missing = Object.keys(values).filter((key) => !found.has(key));
  assert.deepEqual(missing, [], 'missing series');
}

function assertValue(key: string, value: number, measure: Measure): void {
  if (typeof measure === 'number') assert.equal(value, measure, `{${key}}`);
  else assert.equal(measure(value), undefined, `{${key}} = ${value}`);
}
