// The real demo (`make up`) as a process on leased ports, and the commands that it tells people to type.

import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { leasePorts, type RunningProcess, startProcess } from '../toolkit/index.ts';

const ROOT = path.join(import.meta.dirname, '../..');
/** Of `make up PROFILE=small`: what it opens, each with a flag of its own. */
const PORTS = [
  'dashboard',
  'shard',
  'shard-metrics',
  'second-shard',
  'second-shard-metrics',
  'coordinator',
  'coordinator-metrics',
  'sim-north',
  'sim-north-metrics',
  'sim-metal',
  'sim-metal-metrics',
  'web-eu',
  'batch-us',
  'train-us',
  'web-eu-operator',
  'batch-us-operator',
  'train-us-operator',
] as const;

export class DemoProcess implements AsyncDisposable {
  readonly running: RunningProcess;
  readonly ports: Readonly<Record<(typeof PORTS)[number], number>>;
  /** Where its data is. */
  readonly dir: string;
  /** What it said until it was ready: later the end of its output alone is kept. */
  readonly #said: string;
  readonly #release: () => Promise<void>;

  constructor(parts: {
    readonly running: RunningProcess;
    readonly ports: Readonly<Record<(typeof PORTS)[number], number>>;
    readonly dir: string;
    readonly said: string;
    readonly release: () => Promise<void>;
  }) {
    this.running = parts.running;
    this.ports = parts.ports;
    this.dir = parts.dir;
    this.#said = parts.said;
    this.#release = parts.release;
  }

  get url(): string {
    return `http://127.0.0.1:${this.ports.dashboard}`;
  }

  /** The line under “Five things to try” that begins with `make try-<name>`, without its comment. */
  printedCommand(name: string): string {
    const line = this.#said
      .split('\n')
      .find((text) => new RegExp(`^ +make (?:-C \\S+ )?try-${name}\\b`).test(text));
    if (line === undefined) throw new Error(`the demo printed no command for ${name}`);
    return line.replace(/#.*$/, '').trim();
  }

  /** As a person would in a second terminal; `variables` are added to what is printed. */
  async type(name: string, ...variables: string[]): Promise<string> {
    const command = [this.printedCommand(name), ...variables, `DEMO=${this.dir}`].join(' ');
    const { stdout } = await promisify(execFile)('sh', ['-ec', command], { cwd: ROOT });
    return stdout;
  }

  /** Idempotent: SIGTERM is its Ctrl-C. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.running[Symbol.asyncDispose]();
    await this.#release();
  }
}

export async function startDemo(seed: string): Promise<DemoProcess> {
  const leases = await leasePorts(PORTS.length);
  const ports = Object.fromEntries(
    PORTS.map((name, at) => [name, leases[at]?.port ?? 0]),
  ) as Record<(typeof PORTS)[number], number>;
  const release = async (): Promise<void> => {
    for (const lease of leases) await lease.release();
  };
  try {
    const running = await startProcess({
      name: 'demo',
      command: process.execPath,
      args: [
        path.join(ROOT, 'demo/src/up.ts'),
        '--seed',
        seed,
        ...PORTS.flatMap((name) => [`--${name}-port`, String(ports[name])]),
      ],
      cwd: ROOT,
      ready: { kind: 'line', pattern: /^ready after [\d.]+ s/m },
    });
    const [, dir = ''] = await running.waitForLine(/export KUBECONFIG=(\S+)\/[^/\s]+$/m);
    // The last of the five is said after it is ready.
    await running.waitForLine(/ make (?:-C \S+ )?try-gang\b/);
    return new DemoProcess({ running, ports, dir, said: running.output.text(), release });
  } catch (error) {
    await release();
    throw error;
  }
}
