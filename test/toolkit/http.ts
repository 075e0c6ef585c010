// One HTTP(S) request with a deadline and a bounded answer, on a connection of its own. The
// global fetch pools connections: after a server is killed and restarted on the same port, the
// next call would fail on a dead pooled socket and make the test blame the server.

import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { HANG_MS, withDeadline } from './real-time.ts';

const MAX_BODY_BYTES = 16 * 1024 * 1024;

export interface HttpTls {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface HttpCall {
  readonly url: string;
  /** Sent as a POST with a JSON body when present, else a GET. */
  readonly json?: unknown;
  /** Sent as a POST with a form body when present. */
  readonly form?: Readonly<Record<string, string>>;
  readonly tls?: HttpTls | undefined;
  readonly withinMs?: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

export function http(call: HttpCall): Promise<HttpAnswer> {
  return withDeadline(call.url, call.withinMs ?? HANG_MS, (signal) => exchange(call, signal));
}

function exchange(call: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
  const [body, contentType] = encodeBody(call);
  const options = {
    method: body === undefined ? 'GET' : 'POST',
    headers: body === undefined ? {} : { 'content-type': contentType },
    agent: false,
    signal,
    ...call.tls,
  } as const;
  return new Promise((resolve, reject) => {
    const start = call.url.startsWith('https:') ? httpsRequest : httpRequest;
    const request = start(call.url, options, (response) => {
      readAll(response).then(
        (text) => resolve({ status: response.statusCode ?? 0, body: text }),
        reject,
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}

function encodeBody(call: HttpCall): readonly [string | undefined, string] {
  if (call.json !== undefined) return [JSON.stringify(call.json), 'application/json'];
  if (call.form !== undefined) {
    return [new URLSearchParams(call.form).toString(), 'application/x-www-form-urlencoded'];
  }
  return [undefined, ''];
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of response) {
    // Typed as any by the platform; without an encoding it is always a Buffer.
    const bytes = chunk as Buffer;
    sizeBytes += bytes.length;
    if (sizeBytes > MAX_BODY_BYTES) throw new Error(`answer longer than ${MAX_BODY_BYTES} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}
