// A dialogue with an API server as text: every request of a scenario and what the server answered, without
// what no two servers share (uids, versions, times). One text per scenario stands in `testdata/`, recorded
// from a real kube-apiserver; the real one and the test API server must both speak it word for word.
// Of a Status all is shown; of an object its kind, its name and the paths that the scenario asks for.

import { isDeepStrictEqual } from 'node:util';
import { eventually } from '../../toolkit/index.ts';
import type { Api, ApiWatch, Ask, Json, Reply } from '../api.ts';

export interface Subject {
  readonly api: Api;
  /** A namespace in which Pods can be created. */
  readonly namespace: (name: string) => Promise<unknown>;
  /** Versions before now are forgotten. */
  readonly compact: () => Promise<void>;
}

export class Dialogue {
  readonly subject: Subject;
  readonly #lines: string[] = [];

  constructor(subject: Subject) {
    this.subject = subject;
  }

  get text(): string {
    return `${this.#lines.join('\n')}\n`;
  }

  /** A remark between requests. */
  note(text: string): void {
    if (this.#lines.length > 0) this.#lines.push('');
    this.#lines.push(`# ${text}`);
  }

  async ask(method: string, path: string, ask: Ask, show: readonly string[]): Promise<Reply> {
    const reply = await this.subject.api.ask(method, path, ask);
    this.#lines.push(requestLine(method, path, ask), ...answerLines(reply, show));
    return reply;
  }

  /** Only the code and the reason: the words are those of Go's parsers. */
  async brief(method: string, path: string, ask: Ask = {}): Promise<void> {
    const { status, object } = await this.subject.api.ask(method, path, ask);
    const reason = textAt(object, 'reason');
    this.#lines.push(requestLine(method, path, ask), `  ${status} ${reason || 'without a reason'}`);
  }

  get(path: string, ...show: readonly string[]): Promise<Reply> {
    return this.ask('GET', path, {}, show);
  }

  post(path: string, body: unknown, ...show: readonly string[]): Promise<Reply> {
    return this.ask('POST', path, { body }, show);
  }

  put(path: string, body: unknown, ...show: readonly string[]): Promise<Reply> {
    return this.ask('PUT', path, { body }, show);
  }

  merge(path: string, body: unknown, ...show: readonly string[]): Promise<Reply> {
    return this.ask('PATCH', path, { body, contentType: 'application/merge-patch+json' }, show);
  }

  jsonPatch(path: string, body: unknown, ...show: readonly string[]): Promise<Reply> {
    return this.ask('PATCH', path, { body, contentType: 'application/json-patch+json' }, show);
  }

  delete(path: string, body?: unknown, ...show: readonly string[]): Promise<Reply> {
    return this.ask('DELETE', path, { body }, show);
  }

  /** A list: the names, in order, and the given paths of its metadata. */
  async list(path: string, ...show: readonly string[]): Promise<Reply> {
    const reply = await this.subject.api.get(path);
    const items = (reply.object['items'] ?? []) as readonly Json[];
    const names = items.map((item) => textAt(item, 'metadata.name'));
    const lines =
      reply.status === 200
        ? [`  200 ${textAt(reply.object, 'kind')} [${names.join(' ')}]${shown(reply.object, show)}`]
        : answerLines(reply, []);
    this.#lines.push(requestLine('GET', path, {}), ...lines);
    return reply;
  }

  async watch(path: string): Promise<ApiWatch> {
    const watch = await this.subject.api.watch(path);
    this.#lines.push(requestLine('GET', path, {}), `  ${watch.status} watching`);
    return watch;
  }

  /** The next events of a watch; `undefined` of one that the server ended. */
  async events(watch: ApiWatch, count: number, ...show: readonly string[]): Promise<void> {
    for (let left = count; left > 0; left -= 1) {
      const event = await watch.next();
      if (event === undefined) {
        this.#lines.push('  … the server ended the watch');
        return;
      }
      const { type, object } = event;
      const text =
        object['kind'] === 'Status'
          ? JSON.stringify(plain(object))
          : `${textAt(object, 'kind')} ${textAt(object, 'metadata.name')}`;
      this.#lines.push(`  … ${type} ${neutral(text.trim())}${shown(object, show)}`);
    }
  }

  /** Waits, without a trace, until controllers have done their part. */
  async until(path: string, expected: Readonly<Record<string, unknown>>): Promise<void> {
    await eventually(
      async () => {
        const { object } = await this.subject.api.get(path);
        return Object.entries(expected).every(([key, value]) =>
          isDeepStrictEqual(at(object, key), value),
        );
      },
      { what: `${path} ${JSON.stringify(expected)}` },
    );
  }

  async untilGone(path: string): Promise<void> {
    await eventually(async () => (await this.subject.api.get(path)).status === 404, {
      what: `${path} gone`,
    });
  }
}

function requestLine(method: string, path: string, { body, contentType, accept }: Ask): string {
  const type = contentType === undefined ? '' : ` (${contentType})`;
  const wanted = accept === undefined ? '' : ` [${accept}]`;
  const text =
    body === undefined ? '' : ` ${typeof body === 'string' ? body : JSON.stringify(body)}`;
  return neutral(`${method} ${path}${wanted}${type}${text}`);
}

function answerLines(
  { status, object, text, retryAfter }: Reply,
  show: readonly string[],
): string[] {
  const retry = retryAfter === undefined ? '' : ` retry-after=${retryAfter}`;
  const kind = object['kind'];
  if (kind === undefined) return [neutral(`  ${status}${retry} ${JSON.stringify(text)}`)];
  if (kind === 'Status') return [neutral(`  ${status}${retry} ${JSON.stringify(plain(object))}`)];
  const name = textAt(object, 'metadata.name');
  const named = name === '' ? '' : ` ${name}`;
  return [neutral(`  ${status} ${textAt(object, 'kind')}${named}`) + shown(object, show)];
}

/** A Status without what says nothing. */
function plain({ kind: _kind, apiVersion: _version, ...rest }: Json): Json {
  const metadata = rest['metadata'] as Json | undefined;
  const isEmpty = metadata === undefined || Object.keys(metadata).length === 0;
  const { metadata: _metadata, ...others } = rest;
  return isEmpty ? others : rest;
}

function shown(object: Json, show: readonly string[]): string {
  return show
    .map((path) => neutral(` ${path}=${JSON.stringify(sorted(at(object, path)))}`))
    .join('');
}

/** `spec.taints.0.key`; keys with dots are not needed. */
function at(object: unknown, path: string): unknown {
  let here = object;
  for (const key of path.split('.')) {
    if (typeof here !== 'object' || here === null) return undefined;
    here = (here as Readonly<Record<string, unknown>>)[key];
  }
  return here;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, sorted(one)]));
}

/** Empty where there is none. */
export function textAt(object: unknown, path: string): string {
  const value = at(object, path);
  return typeof value === 'string' ? value : '';
}

function neutral(text: string): string {
  return text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>')
    .replace(/(resourceVersion"?[=:]\\?"?)\d+/g, '$1<version>')
    .replace(/(the ResourceVersion in (?:the precondition|record) \()\d+/g, '$1<version>')
    .replace(/(resource version: )\d+(?: \(\d+\))?/g, '$1<version>')
    .replace(/(continue"?[=:]\\?"?)[\w%=-]{20,}/g, '$1<token>');
}
