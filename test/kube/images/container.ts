// One container that runs: its output, what is inside, how it ends. `podman run` stays in front of it
// and passes signals on, so its exit code is that of the process inside.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readProcessStat } from '../../toolkit/process-identity.ts';
import { leaveToReaper } from '../../toolkit/reaper.ts';
import {
  eventually,
  http,
  type ProcessExit,
  type RunningProcess,
  startProcess,
} from '../../toolkit/index.ts';
import type { Outcome } from './container-host.ts';

type Podman = (...args: readonly string[]) => Promise<Outcome>;

export interface StartSpec {
  /** For failure messages. */
  readonly name: string;
  readonly image: string;
  readonly env: NodeJS.ProcessEnv;
  readonly podmanArgs: readonly string[];
  readonly args: readonly string[];
  readonly podman: Podman;
  readonly logFile?: string;
  /** Between SIGTERM and SIGKILL; a hang guard unless told. */
  readonly graceMs?: number;
}

let startedCount = 0;

export async function startContainer(spec: StartSpec): Promise<Container> {
  startedCount += 1;
  const name = `bigfleet-test-${process.pid}-${startedCount}`;
  const front = await startProcess({
    name: spec.name,
    command: 'podman',
    args: [...spec.podmanArgs, '--name', name, spec.image, ...spec.args],
    env: { CONTAINERS_STORAGE_CONF: spec.env['CONTAINERS_STORAGE_CONF'] ?? '' },
    ...(spec.logFile === undefined ? {} : { logFile: spec.logFile }),
    ...(spec.graceMs === undefined ? {} : { stopWithinMs: spec.graceMs }),
  });
  const pid = await eventually(
    async () => {
      const { stdout } = await spec.podman('inspect', '--format={{.State.Pid}}', name);
      return Number(stdout) || undefined;
    },
    {
      what: `${spec.name} runs`,
      details: () => front.output.text(),
      hopeless: () => (front.exit === undefined ? undefined : 'podman ended'),
    },
  );
  return new Container({ name, pid, front, podman: spec.podman });
}

interface Parts {
  readonly name: string;
  /** Of its first process, as this machine sees it. */
  readonly pid: number;
  readonly front: RunningProcess;
  readonly podman: Podman;
}

export class Container implements AsyncDisposable {
  readonly #parts: Parts;
  readonly #ended: () => void;
  #isStopped = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    const startTicks = readProcessStat(parts.pid)?.startTicks ?? '';
    this.#ended = leaveToReaper({ kind: 'group', pid: parts.pid, startTicks });
  }

  get output(): string {
    return this.#parts.front.output.text();
  }

  /** `undefined` while it runs. */
  get exit(): ProcessExit | undefined {
    return this.#parts.front.exit;
  }

  /** By a SIGSTOP of the test. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  waitForLine(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#parts.front.waitForLine(pattern);
  }

  /** Until the probe says 200. */
  async ready(port: number, probe: string = '/readyz'): Promise<void> {
    await eventually(
      async () => (await http({ url: `http://127.0.0.1:${port}${probe}` })).status === 200,
      { what: `${this.#parts.front.name} ${probe}`, details: () => this.output },
    );
  }

  /** As `kubectl exec` does: no shell in between. */
  exec(...command: readonly string[]): Promise<Outcome> {
    return this.#parts.podman('exec', this.#parts.name, ...command);
  }

  /** Runs JavaScript beside the process, as the same user with the same file systems. */
  evaluate(source: string): Promise<Outcome> {
    return this.exec('node', '-e', source);
  }

  /** Names of the programs inside, in the order that podman lists them. */
  async processes(): Promise<string[]> {
    const { stdout } = await this.#parts.podman('top', this.#parts.name, 'args');
    const commands = stdout.trim().split('\n').slice(1);
    return commands.map((command) => path.basename(command.split(' ')[0] ?? ''));
  }

  /** A field of /proc/<pid>/status of its first process. */
  status(field: string): string {
    const text = readFileSync(`/proc/${this.#parts.pid}/status`, 'utf8');
    const value = new RegExp(`^${field}:\\s*(.*)$`, 'm').exec(text)?.[1];
    if (value === undefined) throw new Error(`no ${field} in the status of ${this.#parts.pid}`);
    return value;
  }

  /** To its first process, past podman: SIGSTOP for one that hangs. */
  signal(signal: NodeJS.Signals): void {
    process.kill(this.#parts.pid, signal);
    if (signal === 'SIGSTOP' || signal === 'SIGCONT') this.#isStopped = signal === 'SIGSTOP';
  }

  /** SIGTERM to its first process, as a cluster ends a Pod. */
  stop(): Promise<ProcessExit> {
    return this.#parts.front.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.podman('rm', '--force', '--time', '0', this.#parts.name);
    await this.#parts.front.stop();
    this.#ended();
  }
}
