// The built web app: files of one folder, by names that the build makes. Everything under assets/ carries its
// hash in its name and is kept by browsers for good; the page itself is asked for again each time. A file is
// read and compressed when it is first asked for; what was asked for last is kept, within a bound.
//
// No name of a request reaches the file system unless it is made of plain characters: no dot file, no `..`,
// no link that leads out of the folder.

import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import {
  acceptedEncodings,
  type HttpAnswer,
  type HttpRequest,
  hasTag,
  textAnswer,
} from './answer.ts';

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
};
const COMPRESSED: ReadonlySet<string> = new Set(['.woff2', '.png', '.ico']);
const NAME = /^\/(?:[A-Za-z0-9_-][A-Za-z0-9_.-]*\/)*[A-Za-z0-9_-][A-Za-z0-9_.-]*$/;
/** A path of the app itself: its pages have no dot in their names. */
const ROUTE = /^\/(?:[a-z][a-z0-9-]*)?$/;
const HASHED = /^\/(?:playground\/)?assets\//;
const MAX_KEPT_BYTES = 64 * 2 ** 20;
const BROTLI_QUALITY = 9;
const FOREVER = 'public, max-age=31536000, immutable';

type Encoding = 'br' | 'gzip' | 'identity';

interface Kept {
  readonly stamp: string;
  readonly body: Promise<Buffer>;
  bytes: number;
}

export interface WebFilesOptions {
  /** The folder of the app's index.html. */
  readonly root: string;
  /** What builds it, for who did not. */
  readonly buildCommand: string;
}

export class WebFiles {
  readonly #options: WebFilesOptions;
  /** By encoding and file; least recently asked first. */
  readonly #kept = new Map<string, Kept>();
  #keptBytes = 0;

  constructor(options: WebFilesOptions) {
    this.#options = options;
  }

  async isBuilt(): Promise<boolean> {
    return (await this.#find('/index.html')) !== undefined;
  }

  /** Undefined: there is no such file and no such page. */
  async answer(request: HttpRequest): Promise<HttpAnswer | undefined> {
    const file = await this.#find(request.path);
    if (file !== undefined) return this.#send(request, file);
    if (!ROUTE.test(request.path)) return undefined;
    const page = await this.#find('/index.html');
    return page === undefined ? this.#notBuilt() : this.#send(request, page);
  }

  #notBuilt(): HttpAnswer {
    const { root, buildCommand } = this.#options;
    const text =
      `The web app is not built: there is no index.html in ${root}.\n` +
      `Build it with\n\n  ${buildCommand}\n\nor name its folder with --web-dir. ` +
      'The API under /api/v1 is served all the same.';
    return textAnswer(503, text);
  }

  async #find(name: string): Promise<FoundFile | undefined> {
    if (!NAME.test(name)) return undefined;
    const { root } = this.#options;
    try {
      const [inside, real] = await Promise.all([realpath(root), realpath(path.join(root, name))]);
      if (!real.startsWith(`${inside}${path.sep}`)) return undefined;
      const { mtimeMs, size, isFile } = await stat(real).then((found) => ({
        mtimeMs: found.mtimeMs,
        size: found.size,
        isFile: found.isFile(),
      }));
      return isFile ? { name, real, stamp: `${mtimeMs}/${size}` } : undefined;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async #send(request: HttpRequest, file: FoundFile): Promise<HttpAnswer> {
    const extension = path.extname(file.name);
    const encoding = COMPRESSED.has(extension) ? 'identity' : encodingFor(request);
    const tag = createHash('sha256').update(`${file.name} ${file.stamp} ${encoding}`);
    const etag = `"${tag.digest('base64url')}"`;
    const headers: Record<string, string> = {
      'content-type': TYPES[extension] ?? 'application/octet-stream',
      'cache-control': HASHED.test(file.name) ? FOREVER : 'no-cache',
      vary: 'accept-encoding',
      etag,
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    };
    if (hasTag(request, etag)) return { status: 304, headers, body: '' };
    return { status: 200, headers, body: await this.#body(file, encoding) };
  }

  async #body(file: FoundFile, encoding: Encoding): Promise<Buffer> {
    const key = `${encoding} ${file.real}`;
    const known = this.#kept.get(key);
    this.#kept.delete(key);
    if (known?.stamp === file.stamp) {
      this.#kept.set(key, known);
      return known.body;
    }
    this.#keptBytes -= known?.bytes ?? 0;
    const kept: Kept = { stamp: file.stamp, body: read(file.real, encoding), bytes: 0 };
    this.#kept.set(key, kept);
    try {
      const body = await kept.body;
      this.#weigh(key, kept, body.length);
      return body;
    } catch (error) {
      if (this.#kept.get(key) === kept) this.#kept.delete(key);
      throw error;
    }
  }

  #weigh(key: string, kept: Kept, bytes: number): void {
    if (this.#kept.get(key) !== kept) return;
    kept.bytes = bytes;
    this.#keptBytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#kept) {
      if (this.#keptBytes <= MAX_KEPT_BYTES) return;
      this.#kept.delete(oldest);
      this.#keptBytes -= freed;
    }
  }
}

interface FoundFile {
  readonly name: string;
  readonly real: string;
  /** Changes with the file. */
  readonly stamp: string;
}

async function read(file: string, encoding: Encoding): Promise<Buffer> {
  const bytes = await readFile(file);
  switch (encoding) {
    case 'identity':
      return bytes;
    case 'gzip':
      return toGzip(bytes);
    case 'br':
      return toBrotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
  }
}

function encodingFor(request: HttpRequest): Encoding {
  const accepted = acceptedEncodings(request);
  if (accepted.has('br')) return 'br';
  return accepted.has('gzip') ? 'gzip' : 'identity';
}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  return ['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG', 'ELOOP'].includes(String(code));
}
