// Serves one folder on loopback, as any web server would serve the built documentation.

import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';

export interface FolderServer extends AsyncDisposable {
  readonly folder: string;
  /** Ends with a slash. */
  readonly url: string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

export async function serveFolder(folder: string): Promise<FolderServer> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    const file = path.join(folder, decodeURIComponent(pathname === '/' ? '/index.html' : pathname));
    const isThere = file.startsWith(folder) && existsSync(file) && statSync(file).isFile();
    response.setHeader('Content-Type', TYPES[path.extname(file)] ?? 'text/plain; charset=utf-8');
    response.writeHead(isThere ? 200 : 404).end(isThere ? readFileSync(file) : 'not found');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    folder,
    url: `http://127.0.0.1:${address.port}/`,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
