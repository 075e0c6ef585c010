// Commands to a process of the demo, over a unix socket in the run's own directory: one POST each, JSON in
// and out. It is how the demo's own parts are told to misbehave, and no part of the product.

import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { BigFleetError, describeThrown } from '@bigfleet/base';

export type Fields = Readonly<Record<string, unknown>>;

/** By the command's name. A BigFleetError is the answer of a command that can't be done. */
export type Commands = Readonly<Record<string, (fields: Fields) => Promise<object>>>;

const MAX_BYTES = 64 * 1024;
const OK = 200;
const REFUSED = 400;
const BROKEN = 500;

/** Listens when it resolves; only who may enter the socket's directory can call. Close it. */
export async function serveCommands(socketPath: string, commands: Commands): Promise<Server> {
  const server = createServer((incoming, response) => {
    const finish = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    answer(incoming, commands).then(
      (body) => finish(OK, body),
      (error: unknown) => {
        const isRefusal = error instanceof BigFleetError;
        finish(isRefusal ? REFUSED : BROKEN, { message: describeThrown(error) });
      },
    );
  });
  server.listen(socketPath);
  await once(server, 'listening');
  return server;
}

async function answer(incoming: IncomingMessage, commands: Commands): Promise<object> {
  const name = (incoming.url ?? '').slice(1);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (incoming.method !== 'POST' || command === undefined) {
    throw new BigFleetError(
      'flag_invalid',
      `${incoming.method} /${name}: there is no such command`,
    );
  }
  return await command(parsed(await textOf(incoming)));
}

/** Throws `unavailable` when nobody listens, or with what the other side refused. */
export async function callCommand(
  socketPath: string,
  name: string,
  fields: Fields = {},
): Promise<Fields> {
  const outgoing = request({ socketPath, method: 'POST', path: `/${name}` });
  outgoing.end(JSON.stringify(fields));
  let incoming: IncomingMessage;
  try {
    [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  } catch (cause) {
    const message = `nobody answers at ${socketPath}: ${describeThrown(cause)}`;
    throw new BigFleetError('unavailable', message, { cause });
  }
  const body = parsed(await textOf(incoming));
  if (incoming.statusCode === OK) return body;
  const { message } = body;
  throw new BigFleetError(
    incoming.statusCode === REFUSED ? 'flag_invalid' : 'internal',
    typeof message === 'string' ? message : `HTTP ${incoming.statusCode}`,
  );
}

function parsed(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new BigFleetError('flag_invalid', `no JSON: ${describeThrown(cause)}`, { cause });
  }
  if (typeof value === 'object' && value !== null) return value as Fields;
  throw new BigFleetError('flag_invalid', 'the body must be a JSON object');
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let byteCount = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    byteCount += chunk.length;
    if (byteCount > MAX_BYTES) throw new BigFleetError('flag_invalid', 'the body is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** A text among those allowed. */
export function textField(fields: Fields, name: string, allowed: readonly string[]): string {
  const value = fields[name];
  if (typeof value === 'string' && allowed.includes(value)) return value;
  const given = JSON.stringify(value);
  throw new BigFleetError('flag_invalid', `${name} ${given}: one of ${allowed.join(', ')}`);
}

export interface NumberRange {
  readonly min: number;
  readonly max: number;
}

export function numberField(fields: Fields, name: string, { min, max }: NumberRange): number {
  const value = fields[name];
  if (typeof value === 'number' && value >= min && value <= max) return value;
  const given = JSON.stringify(value);
  throw new BigFleetError('flag_invalid', `${name} ${given}: a number from ${min} to ${max}`);
}
