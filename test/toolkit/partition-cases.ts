// Small programs that partition tests run on hosts: an echo server, and a client that keeps one
// connection and says what it sees. Driven by lines on standard input, so that the same program
// works inside a namespace, where the test cannot open sockets on its behalf.

import type { Place } from './netns.ts';
import { type RunningProcess, startProcess } from './process.ts';

const SERVER = `
  const { createServer } = await import('node:net');
  const server = createServer((socket) => {
    console.log('accepted');
    socket.on('data', (data) => socket.write(data));
    socket.on('error', (error) => console.log('error ' + error.code));
  });
  server.listen(Number(process.argv[1]), process.argv[2], () => console.log('listening'));`;

const CLIENT = `
  const { connect } = await import('node:net');
  const { createInterface } = await import('node:readline');
  let socket;
  const open = () => {
    socket = connect(Number(process.argv[2]), process.argv[1]);
    socket.on('connect', () => console.log('connected'));
    socket.on('data', (data) => console.log('echo ' + data));
    socket.on('error', (error) => console.log('error ' + error.code));
    socket.on('end', () => console.log('end'));
  };
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'open') open();
    else socket.write(line);
  }`;

export function startEchoServer(place: Place, port: number): Promise<RunningProcess> {
  return start('echo server', place, SERVER, [String(port), place.address], /^listening/);
}

/** Understands `open` (a new connection) and any other line (sent as is). */
export function startEchoClient(
  place: Place,
  target: { readonly host: string; readonly port: number },
): Promise<RunningProcess> {
  return start('echo client', place, CLIENT, [target.host, String(target.port)], undefined);
}

function start(
  name: string,
  place: Place,
  script: string,
  args: readonly string[],
  ready: RegExp | undefined,
): Promise<RunningProcess> {
  const node = place.command(process.execPath, ['--input-type=module', '-e', script, ...args]);
  return startProcess({
    name,
    ...node,
    ...(ready === undefined ? {} : { ready: { kind: 'line', pattern: ready } }),
  });
}
