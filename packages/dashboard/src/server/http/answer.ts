// What a request is answered with, as a value; sending it is the server's business.

import type { Problem } from '../../api/index.ts';
import { statusOf } from './problem.ts';

export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly search: URLSearchParams;
  header(name: string): string | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Worth compressing on the way. */
  readonly isCompressible?: boolean;
}

export const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';
const NO_STORE = 'no-store';

export function textAnswer(status: number, text: string): HttpAnswer {
  const headers = { 'content-type': TEXT_TYPE, 'cache-control': NO_STORE };
  return { status, headers, body: `${text}\n` };
}

export function problemAnswer(problem: Problem, headers: Record<string, string> = {}): HttpAnswer {
  return {
    status: statusOf(problem),
    headers: { 'content-type': JSON_TYPE, 'cache-control': NO_STORE, ...headers },
    body: `${JSON.stringify(problem)}\n`,
  };
}
