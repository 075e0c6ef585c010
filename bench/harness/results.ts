// The results document, an interface that documentation, CI and later issues read: field names
// and meaning do not change. bench/results/latest.json is replaced by each run, never merged.

import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Extra, Shape } from './define-bench.ts';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly node: string;
}

/** Times divided by the K of their own shape. */
export interface PerK {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export interface Result {
  readonly name: string;
  /** What was built, as counted, not as claimed. */
  readonly shape: Shape;
  readonly iterations: number;
  /** Per iteration, exact from raw samples. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly perK: PerK;
  /** null: the bench opted out, or one iteration alone fills the semi-space. */
  readonly allocBytesPerOp: number | null;
  readonly rssBytes: number;
  /** Raw milliseconds in order, little-endian float64; relative to the results folder. */
  readonly samplesFile: string;
  readonly extra: Extra;
}

export interface Results {
  readonly machine: Machine;
  readonly revision: string;
  /** The smallest K of the run. */
  readonly calibrationMs: number;
  /** Whether any shape is noisy; the shape itself carries `extra.noisy`. */
  readonly noisy: boolean;
  readonly results: readonly Result[];
}

export function writeResults(folder: string, results: Results): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'latest.json');
  const partial = `${path}.${process.pid}.partial`;
  writeFileSync(partial, `${JSON.stringify(results, null, 2)}\n`);
  renameSync(partial, path);
  return path;
}

/** Everything that is wrong with a would-be results document; empty when it is one. */
export function resultsProblems(value: unknown): readonly string[] {
  const problems: string[] = [];
  const root = fieldsOf(value, '', problems);
  const machine = fieldsOf(root['machine'], 'machine', problems);
  expectTypes(machine, 'machine', MACHINE_FIELDS, problems);
  expectTypes(root, '', ROOT_FIELDS, problems);
  const list = root['results'];
  if (!Array.isArray(list)) return [...problems, 'results: not a list'];
  list.forEach((item: unknown, index) => {
    const at = `results[${index}]`;
    const result = fieldsOf(item, at, problems);
    expectTypes(result, at, RESULT_FIELDS, problems);
    const perK = fieldsOf(result['perK'], `${at}.perK`, problems);
    expectTypes(perK, `${at}.perK`, PER_K_FIELDS, problems);
    fieldsOf(result['shape'], `${at}.shape`, problems);
    fieldsOf(result['extra'], `${at}.extra`, problems);
  });
  return problems;
}

export function parseResults(text: string): Results {
  const value: unknown = JSON.parse(text);
  if (isResults(value)) return value;
  throw new Error(`not a results document: ${resultsProblems(value).join('; ')}`);
}

function isResults(value: unknown): value is Results {
  return resultsProblems(value).length === 0;
}

type FieldType = 'string' | 'number' | 'boolean' | 'number or null' | 'object' | 'list';
type Fields = Readonly<Record<string, unknown>>;

const ROOT_FIELDS: Readonly<Record<string, FieldType>> = {
  machine: 'object',
  revision: 'string',
  calibrationMs: 'number',
  noisy: 'boolean',
  results: 'list',
};
const MACHINE_FIELDS: Readonly<Record<string, FieldType>> = {
  cpu: 'string',
  cores: 'number',
  memoryGiB: 'number',
  node: 'string',
};
const PER_K_FIELDS: Readonly<Record<string, FieldType>> = {
  p50: 'number',
  p95: 'number',
  p99: 'number',
};
const RESULT_FIELDS: Readonly<Record<string, FieldType>> = {
  name: 'string',
  shape: 'object',
  iterations: 'number',
  p50Ms: 'number',
  p95Ms: 'number',
  p99Ms: 'number',
  maxMs: 'number',
  perK: 'object',
  allocBytesPerOp: 'number or null',
  rssBytes: 'number',
  samplesFile: 'string',
  extra: 'object',
};

function expectTypes(
  fields: Fields,
  at: string,
  types: Readonly<Record<string, FieldType>>,
  problems: string[],
): void {
  const path = (key: string): string => (at === '' ? key : `${at}.${key}`);
  for (const [key, type] of Object.entries(types)) {
    if (!hasType(fields[key], type)) problems.push(`${path(key)}: not a ${type}`);
  }
  for (const key of Object.keys(fields)) {
    if (!Object.hasOwn(types, key)) problems.push(`${path(key)}: unknown field`);
  }
}

function hasType(value: unknown, type: FieldType): boolean {
  switch (type) {
    case 'number':
      return Number.isFinite(value);
    case 'number or null':
      return value === null || Number.isFinite(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'list':
      return Array.isArray(value);
    default:
      return typeof value === type;
  }
}

function fieldsOf(value: unknown, at: string, problems: string[]): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value));
  }
  problems.push(`${at || 'document'}: not an object`);
  return {};
}
