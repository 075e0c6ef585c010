// Which answer belongs to which path. GET and HEAD only: this process changes nothing, and says so.

import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ReadinessSource, Scraper } from '@bigfleet/telemetry';
import { answers, params, problem, streamEvents } from '../../api/index.ts';
import type { ViewAnswers } from '../views/view-answers.ts';
import { parseViewQuery, VIEW_NAMES } from '../views/view-query.ts';
import {
  type HttpAnswer,
  type HttpRequest,
  hasTag,
  JSON_TYPE,
  problemAnswer,
  textAnswer,
} from './answer.ts';
import type { WebFiles } from './web-files.ts';

export interface RouteOptions {
  readonly answers: ViewAnswers;
  readonly web: WebFiles;
  readonly scraper: Scraper;
  readonly readiness: ReadinessSource;
}

export const API = '/api/v1';

export async function routeRequest(
  options: RouteOptions,
  request: HttpRequest,
): Promise<HttpAnswer> {
  const { path } = request;
  switch (path) {
    case '/metrics': {
      const { scraper } = options;
      const headers = { 'content-type': scraper.contentType, 'cache-control': 'no-store' };
      return { status: 200, headers, body: await scraper.scrape(), isCompressible: true };
    }
    case '/healthz':
      return textAnswer(200, 'ok');
    case '/readyz':
      return readyAnswer(options.readiness);
    case API:
    case `${API}/`:
      return jsonAnswer({ views: VIEW_NAMES, stream: `${API}/stream`, schema: `${API}/schema` });
    case `${API}/schema`:
      return schemaAnswer(request);
    default:
      break;
  }
  if (path.startsWith(`${API}/`)) return viewAnswer(options.answers, request);
  if (path.startsWith('/api/')) return notFound(`there is no ${path}: the API is ${API}`);
  return (await options.web.answer(request)) ?? notFound('no such page');
}

function notFound(message: string): HttpAnswer {
  return problemAnswer({ code: 'path_unknown', message });
}

function readyAnswer(readiness: ReadinessSource): HttpAnswer {
  const state = readiness.state();
  if (!state.ready) return textAnswer(503, state.reason);
  return textAnswer(200, state.detail === undefined ? 'ready' : `ready: ${state.detail}`);
}

function jsonAnswer(value: unknown): HttpAnswer {
  const headers = { 'content-type': JSON_TYPE, 'cache-control': 'no-cache' };
  return { status: 200, headers, body: JSON.stringify(value), isCompressible: true };
}

async function viewAnswer(views: ViewAnswers, request: HttpRequest): Promise<HttpAnswer> {
  const query = parseViewQuery(request.path.slice(API.length + 1), request.search);
  if (!query.ok) return problemAnswer(query.error);
  const answer = await views.ask(query.value);
  if (!answer.ok) return problemAnswer(answer.error);
  return taggedAnswer(request, answer.value.json, answer.value.etag());
}

/** Asked again each time, and sent again only when it differs. Weak: it is sent with and without gzip. */
function taggedAnswer(request: HttpRequest, json: string, tag: string): HttpAnswer {
  const etag = `W/${tag}`;
  const headers = { 'content-type': JSON_TYPE, 'cache-control': 'no-cache', etag };
  const isKnown = hasTag(request, etag);
  return { status: isKnown ? 304 : 200, headers, body: isKnown ? '' : json, isCompressible: true };
}

let schema: { readonly text: string; readonly tag: string } | undefined;

function schemaAnswer(request: HttpRequest): HttpAnswer {
  if (schema === undefined) {
    const text = JSON.stringify(apiSchema());
    schema = { text, tag: `"${createHash('sha256').update(text).digest('base64url')}"` };
  }
  return taggedAnswer(request, schema.text, schema.tag);
}

/** JSON Schema of everything that is asked and answered. */
export function apiSchema(): object {
  const schemas = (table: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output'): object =>
    Object.fromEntries(
      Object.entries(table).map(([name, schema]) => [name, z.toJSONSchema(schema, { io })]),
    );
  return {
    version: 'v1',
    parameters: schemas(params, 'input'),
    answers: schemas(answers, 'output'),
    stream: schemas(streamEvents, 'output'),
    problem: z.toJSONSchema(problem),
  };
}
