// One process of a control plane: started, killed, started again on the same port with the same arguments.

import { join } from 'node:path';
import {
  http,
  type HttpTls,
  type PortLease,
  type RunningProcess,
  startProcess,
} from '../toolkit/index.ts';

export interface ComponentSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly tls: HttpTls;
  readonly readyPath: string;
}

export class Component implements AsyncDisposable {
  readonly #spec: ComponentSpec;
  readonly #lease: PortLease;
  #process: RunningProcess | undefined;

  constructor(spec: ComponentSpec, lease: PortLease) {
    this.#spec = spec;
    this.#lease = lease;
  }

  get name(): string {
    return this.#spec.name;
  }

  get port(): number {
    return this.#lease.port;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  get logFile(): string {
    return join(this.#spec.folder, `${this.name}.log`);
  }

  /** What it printed last. */
  tail(): string {
    return this.#process?.output.text() ?? '';
  }

  /** Resolves when it says that it is ready. */
  async start(): Promise<void> {
    const { name, command, args, tls, readyPath } = this.#spec;
    const check = async (): Promise<boolean> =>
      (await http({ url: this.url + readyPath, tls, withinMs: 5_000 })).status === 200;
    this.#process = await startProcess({
      name,
      command,
      args,
      logFile: this.logFile,
      ready: { kind: 'check', check },
    });
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  async pause(): Promise<void> {
    await this.#process?.pause();
  }

  async resume(): Promise<void> {
    await this.#process?.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await this.#lease.release();
  }
}
