// What a measuring child process is asked and what it answers. Both travel as JSON: the order on
// the command line, the answer in a file, so that nothing a bench prints can be mistaken for it.

import type { Extra, Shape } from './define-bench.ts';

export interface ChildOrder {
  readonly mode: 'time' | 'alloc';
  readonly file: string;
  readonly name: string;
  readonly warmup: number;
  readonly iterations: number;
  readonly samplesPath: string;
  readonly reportPath: string;
}

export interface TimeReport {
  readonly kind: 'time';
  readonly shape: Shape;
  readonly kBeforeMs: number;
  readonly kAfterMs: number;
  readonly iterations: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly rssBytes: number;
  readonly extra: Extra;
}

export interface AllocReport {
  readonly kind: 'alloc';
  readonly allocBytesPerOp: number | null;
}

export interface FailureReport {
  readonly kind: 'failed';
  readonly message: string;
}

export type ChildReport = TimeReport | AllocReport | FailureReport;

export function parseOrder(text: string | undefined): ChildOrder {
  const value: unknown = JSON.parse(text ?? 'null');
  if (!isOrder(value)) throw new Error('bench child: not an order');
  return value;
}

export function parseReport(text: string): ChildReport {
  const value: unknown = JSON.parse(text);
  if (!isReport(value)) throw new Error('bench child: not a report');
  return value;
}

function isOrder(value: unknown): value is ChildOrder {
  return typeof value === 'object' && value !== null && 'file' in value && 'reportPath' in value;
}

function isReport(value: unknown): value is ChildReport {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  return value.kind === 'time' || value.kind === 'alloc' || value.kind === 'failed';
}
