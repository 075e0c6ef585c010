// Plain requests to an API server, for tests that look at what it answers: no lanes, no reflector, and no
// retries but of a GET on a kept connection that the server had closed, so that a fault of the product's own
// client cannot hide one of the server. Works against the test API server and a real one.

import { Agent as HttpAgent, type IncomingMessage, request } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { HANG_MS, withDeadline } from '../toolkit/index.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface ApiAccess {
  readonly url: string;
  readonly caPem?: string | undefined;
  readonly certPem?: string | undefined;
  readonly keyPem?: string | undefined;
  readonly token?: string | undefined;
}

export interface Ask {
  readonly body?: unknown;
  readonly contentType?: string | undefined;
  readonly accept?: string | undefined;
}

export interface Reply {
  readonly status: number;
  readonly object: Json;
  readonly text: string;
  readonly retryAfter: string | undefined;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: Json;
}

const MERGE_PATCH = 'application/merge-patch+json';
/** A kube-apiserver closes a connection that is idle for 90 s: this side closes it first. */
const IDLE_MS = 30_000;

export class Api implements AsyncDisposable {
  readonly #access: ApiAccess;
  readonly #agent: HttpAgent;
  readonly #watches = new Set<ApiWatch>();

  constructor(access: ApiAccess) {
    this.#access = access;
    const { caPem: ca, certPem: cert, keyPem: key } = access;
    this.#agent = access.url.startsWith('https:')
      ? new HttpsAgent({ keepAlive: true, timeout: IDLE_MS, ca, cert, key })
      : new HttpAgent({ keepAlive: true, timeout: IDLE_MS });
  }

  async ask(method: string, path: string, ask: Ask = {}): Promise<Reply> {
    return withDeadline(`${method} ${path}`, HANG_MS, async (signal) => {
      const response = await this.#open(method, path, ask, signal);
      let text = '';
      response.setEncoding('utf8');
      for await (const chunk of response) text += String(chunk);
      const status = response.statusCode ?? 0;
      return { status, object: parsed(text), text, retryAfter: response.headers['retry-after'] };
    });
  }

  get(path: string): Promise<Reply> {
    return this.ask('GET', path);
  }

  create(path: string, body: unknown): Promise<Reply> {
    return this.ask('POST', path, { body });
  }

  merge(path: string, body: unknown): Promise<Reply> {
    return this.ask('PATCH', path, { body, contentType: MERGE_PATCH });
  }

  delete(path: string, body?: unknown): Promise<Reply> {
    return this.ask('DELETE', path, { body });
  }

  /** Its object; throws on a refusal. */
  async must(reply: Promise<Reply>): Promise<Json> {
    const { status, object, text } = await reply;
    if (status >= 300) throw new Error(`HTTP ${status}: ${text}`);
    return object;
  }

  /** The query is the caller's, `watch=true` included. */
  async watch(path: string): Promise<ApiWatch> {
    const ender = new AbortController();
    const response = await this.#open('GET', path, {}, ender.signal);
    const watch = new ApiWatch(response, ender);
    this.#watches.add(watch);
    return watch;
  }

  [Symbol.asyncDispose](): Promise<void> {
    for (const watch of this.#watches) watch.end();
    this.#agent.destroy();
    return Promise.resolve();
  }

  #open(method: string, path: string, ask: Ask, signal: AbortSignal): Promise<IncomingMessage> {
    const { url, token } = this.#access;
    const start = url.startsWith('https:') ? httpsRequest : request;
    const body = ask.body === undefined ? undefined : bodyText(ask.body);
    const headers = {
      accept: ask.accept ?? 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      // Without its length, Node sends a DELETE's body as if it were the next request.
      ...(body === undefined
        ? {}
        : {
            'content-type': ask.contentType ?? 'application/json',
            'content-length': Buffer.byteLength(body),
          }),
    };
    return new Promise((resolve, reject) => {
      const call = start(url + path, { method, headers, agent: this.#agent, signal }, resolve);
      call.once('error', (error: NodeJS.ErrnoException) => {
        const isStale = call.reusedSocket && error.code === 'ECONNRESET';
        // Ends with a fresh connection at the latest.
        if (isStale && method === 'GET') resolve(this.#open(method, path, ask, signal));
        else reject(error);
      });
      call.end(body);
    });
  }
}

/** Events in order; a test takes as many as it expects and a hang fails by its deadline. */
export class ApiWatch {
  readonly status: number;
  readonly #lines: AsyncIterator<string>;
  readonly #ender: AbortController;

  constructor(response: IncomingMessage, ender: AbortController) {
    this.status = response.statusCode ?? 0;
    this.#lines = linesOf(response);
    this.#ender = ender;
  }

  /** Undefined: the server ended the watch. */
  async next(): Promise<WatchEvent | undefined> {
    const read = await withDeadline('watch', HANG_MS, () => this.#lines.next());
    return read.done === true ? undefined : (JSON.parse(read.value) as WatchEvent);
  }

  async take(count: number): Promise<WatchEvent[]> {
    const events: WatchEvent[] = [];
    while (events.length < count) {
      const event = await this.next();
      if (event === undefined) throw new Error(`the watch ended after ${events.length} events`);
      events.push(event);
    }
    return events;
  }

  /** Reads on until an event matches. */
  async until(matches: (event: WatchEvent) => boolean): Promise<WatchEvent> {
    for (;;) {
      const [event] = await this.take(1);
      if (event !== undefined && matches(event)) return event;
    }
  }

  end(): void {
    this.#ender.abort();
  }
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  response.setEncoding('utf8');
  for await (const chunk of response) {
    const parts = (rest + String(chunk)).split('\n');
    rest = parts.pop() ?? '';
    yield* parts.filter((line) => line !== '');
  }
}

function bodyText(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function parsed(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Json) : {};
  } catch {
    return {};
  }
}
