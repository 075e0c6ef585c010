// The part of Prometheus's HTTP API that tests use: instant and range queries, and the targets.
// A refused query throws with Prometheus's own message. Values stay numbers, NaN and ±Inf
// included; timestamps are Unix seconds as Prometheus gives them.

import { http } from './http.ts';

export type Labels = Readonly<Record<string, string>>;

export interface PrometheusSample {
  readonly labels: Labels;
  readonly atSeconds: number;
  readonly value: number;
}

export interface PrometheusSeries {
  readonly labels: Labels;
  readonly points: readonly (readonly [atSeconds: number, value: number])[];
}

export interface RangeQuery {
  readonly expression: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly stepSeconds: number;
}

export interface ActiveTarget {
  readonly job: string;
  readonly url: string;
  /** up, down or unknown. */
  readonly health: string;
  readonly lastScrape: string;
  readonly lastError: string;
}

type RawPoint = readonly [number, string];

interface QueryData {
  readonly resultType: 'vector' | 'matrix' | 'scalar' | 'string';
  readonly result: unknown;
}

interface TargetsData {
  readonly activeTargets: readonly {
    readonly labels: Labels;
    readonly scrapeUrl: string;
    readonly health: string;
    readonly lastScrape: string;
    readonly lastError: string;
  }[];
}

type ApiAnswer<T> =
  | { readonly status: 'success'; readonly data: T }
  | { readonly status: 'error'; readonly errorType: string; readonly error: string };

export async function queryInstant(
  url: string,
  expression: string,
  atSeconds?: number,
): Promise<readonly PrometheusSample[]> {
  const form = { query: expression, ...(atSeconds === undefined ? {} : { time: `${atSeconds}` }) };
  const data = await call<QueryData>(`${url}/api/v1/query`, form);
  if (data.resultType === 'scalar') return [sample({}, data.result as RawPoint)];
  if (data.resultType !== 'vector') {
    throw new Error(`${expression} gives a ${data.resultType}, not a vector or scalar`);
  }
  const vector = data.result as readonly { metric: Labels; value: RawPoint }[];
  return vector.map(({ metric, value }) => sample(metric, value));
}

export async function queryRange(
  url: string,
  range: RangeQuery,
): Promise<readonly PrometheusSeries[]> {
  const data = await call<QueryData>(`${url}/api/v1/query_range`, {
    query: range.expression,
    start: `${range.startSeconds}`,
    end: `${range.endSeconds}`,
    step: `${range.stepSeconds}`,
  });
  const matrix = data.result as readonly { metric: Labels; values: readonly RawPoint[] }[];
  return matrix.map(({ metric, values }) => ({
    labels: metric,
    points: values.map(([at, value]) => [at, numberOf(value)] as const),
  }));
}

export async function activeTargets(url: string): Promise<readonly ActiveTarget[]> {
  const data = await call<TargetsData>(`${url}/api/v1/targets?state=active`);
  return data.activeTargets.map(({ labels, scrapeUrl, ...rest }) => ({
    job: labels['job'] ?? '',
    url: scrapeUrl,
    ...rest,
  }));
}

async function call<T>(url: string, form?: Readonly<Record<string, string>>): Promise<T> {
  const answer = await http({ url, ...(form === undefined ? {} : { form }) });
  const parsed = JSON.parse(answer.body) as ApiAnswer<T>;
  if (parsed.status === 'success') return parsed.data;
  throw new Error(`${url}: ${parsed.errorType}: ${parsed.error}`);
}

function sample(labels: Labels, [atSeconds, value]: RawPoint): PrometheusSample {
  return { labels, atSeconds, value: numberOf(value) };
}

function numberOf(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  if (text === '-Inf') return Number.NEGATIVE_INFINITY;
  return Number(text);
}
