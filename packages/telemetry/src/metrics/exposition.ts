// A strict reader of the Prometheus text format 0.0.4, for tests and tools that scrape us. It is
// stricter than Prometheus, on purpose: what it refuses (a family in two places, a missing HELP, a
// bound that is not its canonical decimal, buckets that shrink) is legal or repaired silently
// elsewhere and then shows up as a wrong graph. It does not read timestamps or exemplars.

import { err, ok, type Result } from '@bigfleet/base';

export interface ParsedSample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

export interface ParsedFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly ParsedSample[];
}

export interface ExpositionFault {
  /** From 1; 0 when the fault is not on one line. */
  readonly line: number;
  readonly reason: string;
}

const TYPES = new Set(['counter', 'gauge', 'histogram', 'summary', 'untyped']);
const HELP_LINE = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ((?:[^\\]|\\\\|\\n)+)$/u;
const TYPE_LINE = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) ([a-z]+)$/;
const SAMPLE_LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/su;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^\\"]|\\\\|\\"|\\n)*)"(,|$)/uy;
const VALUE = /^(?:[+-]Inf|NaN|[+-]?(?:\d+(?:\.\d+)?)(?:e[+-]?\d+)?)$/;
const UNESCAPED: ReadonlyMap<string, string> = new Map([
  ['\\\\', '\\'],
  ['\\"', '"'],
  ['\\n', '\n'],
]);

export function parseExposition(text: string): Result<readonly ParsedFamily[], ExpositionFault> {
  if (!text.endsWith('\n')) return err({ line: 0, reason: 'the text must end with a newline' });
  const lines = text.slice(0, -1).split('\n');
  const families: ParsedFamily[] = [];
  const seen: Seen = { families: new Set(), series: new Set() };
  for (let at = 0; at < lines.length; ) {
    const read = readFamily(lines, at, seen);
    if (!read.ok) return read;
    families.push(read.value.family);
    at = read.value.next;
  }
  return ok(families);
}

interface Seen {
  readonly families: Set<string>;
  readonly series: Set<string>;
}

function readFamily(
  lines: readonly string[],
  start: number,
  seen: Seen,
): Result<{ family: ParsedFamily; next: number }, ExpositionFault> {
  const header = readHeader(lines, start, seen);
  if (!header.ok) return header;
  const samples: ParsedSample[] = [];
  let at = start + 2;
  for (; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (line.startsWith('#')) break;
    const sample = readSample(line);
    const reason = sample.ok ? sampleFault(sample.value, header.value, seen) : sample.error;
    if (reason !== undefined) return err({ line: at + 1, reason });
    if (sample.ok) samples.push(sample.value);
  }
  const family = { ...header.value, samples };
  const reason = family.type === 'histogram' ? histogramFault(family) : undefined;
  return reason === undefined
    ? ok({ family, next: at })
    : err({ line: start + 1, reason: `${family.name}: ${reason}` });
}

type Header = Omit<ParsedFamily, 'samples'>;

function readHeader(
  lines: readonly string[],
  start: number,
  seen: Seen,
): Result<Header, ExpositionFault> {
  const help = HELP_LINE.exec(lines[start] ?? '');
  if (help === null) return err({ line: start + 1, reason: 'expected # HELP name text' });
  const type = TYPE_LINE.exec(lines[start + 1] ?? '');
  if (type === null) return err({ line: start + 2, reason: 'expected # TYPE name type' });
  const name = help[1] ?? '';
  if (type[1] !== name) return err({ line: start + 2, reason: 'TYPE of another family' });
  if (!TYPES.has(type[2] ?? '')) return err({ line: start + 2, reason: 'unknown type' });
  if (seen.families.has(name)) return err({ line: start + 1, reason: 'family appears twice' });
  seen.families.add(name);
  return ok({ name, help: unescape(help[2] ?? ''), type: type[2] ?? '' });
}

function readSample(line: string): Result<ParsedSample, string> {
  const match = SAMPLE_LINE.exec(line);
  if (match === null) return err('expected name{labels} value');
  const labels = readLabels(match[2]);
  if (labels === undefined) return err('malformed labels');
  const text = match[3] ?? '';
  if (!VALUE.test(text)) return err('malformed value');
  return ok({ name: match[1] ?? '', labels, value: Number(text.replace('Inf', 'Infinity')) });
}

/** Undefined when malformed. */
function readLabels(text: string | undefined): ReadonlyMap<string, string> | undefined {
  const labels = new Map<string, string>();
  if (text === undefined) return labels;
  let end: string | undefined = ',';
  for (LABEL.lastIndex = 0; end === ','; ) {
    const match = LABEL.exec(text);
    if (match === null || labels.has(match[1] ?? '')) return undefined;
    labels.set(match[1] ?? '', unescape(match[2] ?? ''));
    end = match[3];
  }
  return labels;
}

function sampleFault(sample: ParsedSample, header: Header, seen: Seen): string | undefined {
  const suffix = sample.name.startsWith(header.name) ? sample.name.slice(header.name.length) : '?';
  const allowed = header.type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
  if (!allowed.includes(suffix)) return 'sample of another family';
  const series = sample.name + labelKey([...sample.labels]);
  if (seen.series.has(series)) return 'series appears twice';
  seen.series.add(series);
  if (header.type !== 'counter') return undefined;
  if (!header.name.endsWith('_total')) return 'counter without _total';
  return sample.value >= 0 ? undefined : 'counter below zero';
}

function unescape(text: string): string {
  return text.replace(/\\[\\"n]/g, (escape) => UNESCAPED.get(escape) ?? escape);
}

// What makes the samples of a histogram family believable: per label set, bounds ascend in their
// canonical spelling up to +Inf, counts never shrink, and `_count` equals the +Inf bucket.

/** Undefined when everything holds. */
function histogramFault({ samples }: ParsedFamily): string | undefined {
  const groups = Map.groupBy(samples, ({ labels }) =>
    labelKey([...labels].filter(([name]) => name !== 'le')),
  );
  return [...groups.values()].map(groupFault).find((fault) => fault !== undefined);
}

/** Equal for equal label sets, whatever the order in the text. */
function labelKey(labels: readonly (readonly [string, string])[]): string {
  return JSON.stringify(labels.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function groupFault(group: readonly ParsedSample[]): string | undefined {
  let previous = { bound: Number.NEGATIVE_INFINITY, count: 0 };
  for (const bucket of group.filter(({ name }) => name.endsWith('_bucket'))) {
    const le = bucket.labels.get('le');
    if (le === undefined) return 'bucket without le';
    const bound = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le);
    if (le !== '+Inf' && String(bound) !== le) return `le ${le} is not its canonical decimal`;
    if (!(bound > previous.bound)) return `le ${le} is out of order`;
    if (!(bucket.value >= previous.count)) return `bucket ${le} is below the one before it`;
    previous = { bound, count: bucket.value };
  }
  if (previous.bound !== Number.POSITIVE_INFINITY) return 'no +Inf bucket';
  const sum = group.find(({ name }) => name.endsWith('_sum'));
  const count = group.find(({ name }) => name.endsWith('_count'));
  if (sum === undefined || count === undefined) return 'no _sum or no _count';
  return count.value === previous.count ? undefined : '_count differs from the +Inf bucket';
}
