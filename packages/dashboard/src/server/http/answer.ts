// What a request is answered with, as a value; sending it is the server's business. A refusal is a stable code
// and a sentence; its status follows from the code.

import { errorCatalogue, isErrorCode } from '@bigfleet/base';
import type { Problem } from '../../api/index.ts';

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

const STATUS: Readonly<Record<string, number>> = {
  parameter_invalid: 400,
  parameter_unknown: 400,
  subject_missing: 400,
  moment_not_yet: 400,
  host_refused: 403,
  method_not_allowed: 405,
  body_refused: 413,
  request_malformed: 400,
  request_timeout: 408,
  request_too_large: 431,
  moment_not_kept: 404,
  internal: 500,
};

export function statusOf({ code }: Problem): number {
  const known = STATUS[code];
  if (known !== undefined) return known;
  if (/_(?:not_found|unknown)$/.test(code)) return 404;
  return isErrorCode(code) && errorCatalogue[code].kind === 'user' ? 400 : 503;
}

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

/** By the reader, in small letters; what is refused with `q=0` is not among them. */
export function acceptedEncodings(request: HttpRequest): ReadonlySet<string> {
  const accepted = (request.header('accept-encoding') ?? '')
    .toLowerCase()
    .split(',')
    .filter((each) => !/;\s*q=0(?:\.0*)?\s*$/.test(each))
    .map((each) => each.split(';')[0]?.trim() ?? '');
  return new Set(accepted);
}

/** The reader has it already. Proxies that compress make a tag weak, which says the same here. */
export function hasTag(request: HttpRequest, etag: string): boolean {
  const given = request.header('if-none-match') ?? '';
  if (given.trim() === '*') return true;
  const plain = (tag: string): string => tag.trim().replace(/^W\//, '');
  return given.split(',').some((each) => plain(each) === plain(etag));
}
