// What to answer to a request, as a value; sending it is the server's business. Only GET and HEAD,
// only known paths, no request bodies. The body of a refusal says what would have been right.

import type { Readable } from 'node:stream';
import type { Scraper } from '../metrics/scrape.ts';
import type { DebugEndpoints } from './debug.ts';
import type { ReadinessSource } from './readiness.ts';

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Readable;
}

export interface Request {
  readonly method: string;
  /** The request target as sent, query included. */
  readonly target: string;
  readonly hasBody: boolean;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

export interface AnswerOptions {
  readonly scraper: Scraper;
  readonly readiness: ReadinessSource;
  /** Undefined: `/debug/*` does not exist. */
  readonly debug: DebugEndpoints | undefined;
}

const TEXT = 'text/plain; charset=utf-8';

export async function answerRequest(options: AnswerOptions, request: Request): Promise<Answer> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const answer = textAnswer(405, 'method not allowed: use GET or HEAD');
    return { ...answer, headers: { allow: 'GET, HEAD' } };
  }
  if (request.hasBody) return textAnswer(413, 'request bodies are not accepted');
  const [path = '', query = ''] = splitOnce(request.target, '?');
  switch (path) {
    case '/metrics':
      return {
        status: 200,
        contentType: options.scraper.contentType,
        body: await options.scraper.scrape(),
      };
    case '/healthz':
      return textAnswer(200, 'ok');
    case '/readyz':
      return readyAnswer(options.readiness);
    default:
      return (await options.debug?.answer(path, query, request)) ?? notFound(options);
  }
}

export function textAnswer(status: number, text: string): Answer {
  return { status, contentType: TEXT, body: `${text}\n` };
}

function readyAnswer(readiness: ReadinessSource): Answer {
  const state = readiness.state();
  if (!state.ready) return textAnswer(503, state.reason);
  return textAnswer(200, state.detail === undefined ? 'ready' : `ready: ${state.detail}`);
}

function notFound(options: AnswerOptions): Answer {
  const paths = ['/metrics', '/healthz', '/readyz', ...(options.debug?.paths ?? [])];
  return textAnswer(404, `not found: this port serves ${paths.join(', ')}`);
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
