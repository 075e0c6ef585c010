// Asks a real Prometheus every query of a list, at one instant, and checks each answer twice: that it
// is right, and that it would not be with any series, label or value taken away.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Prometheus, PrometheusSample } from '../toolkit/index.ts';
import { type Answer, assertAnswer } from './answer.ts';

export interface QueryCase {
  /** Number in observability §9, or where the text stands that is not numbered there. */
  readonly at: string;
  readonly query: string;
  readonly answer: Answer;
}

export interface Questions {
  readonly cases: readonly QueryCase[];
  /** One instant for all: what is compared comes from the same scrape. */
  readonly atSeconds: number;
}

export async function askEach(
  t: TestContext,
  prometheus: Prometheus,
  { cases, atSeconds }: Questions,
): Promise<void> {
  for (const { at, query, answer } of cases) {
    await t.test(`${at}: ${query.replaceAll('\n', ' ')}`, async () => {
      const samples = await prometheus.query(query, atSeconds);
      assertAnswer(samples, answer);
      assertChecked(samples, answer);
    });
  }
}

/** The answer itself passed: the same without one of its series, labels or values must not. */
function assertChecked(samples: readonly PrometheusSample[], answer: Answer): void {
  const doctored: (readonly PrometheusSample[])[] = samples.flatMap((sample, at) => [
    samples.with(at, { ...sample, labels: { ...sample.labels, pod: 'x' } }),
    ...Object.keys(sample.labels).map((label) =>
      samples.with(at, { ...sample, labels: without(sample.labels, label) }),
    ),
    ...(Number.isNaN(sample.value) ? [] : [samples.with(at, { ...sample, value: Number.NaN })]),
    ...(isOptional(sample, answer) ? [] : [samples.toSpliced(at, 1)]),
  ]);
  const alien = { labels: { alien: 'yes' }, atSeconds: 0, value: 1 };
  for (const each of [...doctored, [...samples, alien]]) {
    assert.throws(() => assertAnswer(each, answer), assert.AssertionError);
  }
}

function without(labels: PrometheusSample['labels'], gone: string): PrometheusSample['labels'] {
  return Object.fromEntries(Object.entries(labels).filter(([label]) => label !== gone));
}

function isOptional({ labels }: PrometheusSample, { by, mayAlsoHave = {} }: Answer): boolean {
  return by.map((label) => labels[label]).join(',') in mayAlsoHave;
}
