// Serves an empty page and one worker script on loopback. The page's policy allows nothing but
// its own origin, so a bundle that loads anything else fails instead of reaching out.

import { once } from 'node:events';
import { createServer } from 'node:http';

export interface PageServer extends AsyncDisposable {
  readonly url: string;
}

export const WORKER_PATH = '/worker.js';

const PAGE = '<!doctype html><title>BigFleet browser tests</title>';

export async function servePage(workerCode: string): Promise<PageServer> {
  const files: Readonly<Record<string, { readonly type: string; readonly text: string }>> = {
    '/': { type: 'text/html; charset=utf-8', text: PAGE },
    [WORKER_PATH]: { type: 'text/javascript; charset=utf-8', text: workerCode },
  };
  const server = createServer((request, response) => {
    const file = files[request.url ?? ''];
    response.setHeader('Content-Security-Policy', "default-src 'self'");
    response.setHeader('Content-Type', file?.type ?? 'text/plain');
    response.writeHead(file === undefined ? 404 : 200).end(file?.text ?? 'not found');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
