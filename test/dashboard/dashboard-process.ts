// `bigfleet dashboard` as a process, on a port of its own.

import path from 'node:path';
import { leasePort, type RunningProcess, startProcess } from '../toolkit/index.ts';

const PROGRAM = path.join(import.meta.dirname, '../../packages/cli/src/main.ts');

export interface DashboardProcess extends AsyncDisposable {
  readonly url: string;
  readonly running: RunningProcess;
}

export async function startDashboardProcess(...flags: string[]): Promise<DashboardProcess> {
  await using stack = new AsyncDisposableStack();
  const { port } = stack.use(await leasePort());
  const url = `http://127.0.0.1:${port}`;
  const running = stack.use(
    await startProcess({
      name: 'dashboard',
      command: process.execPath,
      args: [PROGRAM, 'dashboard', `--listen=127.0.0.1:${port}`, ...flags],
      ready: { kind: 'http', url: `${url}/readyz` },
    }),
  );
  const owned = stack.move();
  return { url, running, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
