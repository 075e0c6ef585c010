// One of BigFleet's processes in a world: killed, stopped and started again with the same arguments, or with
// others.

import {
  http,
  type ProcessExit,
  type ProcessSpec,
  type RunningProcess,
  startProcess,
} from '../../toolkit/index.ts';

export interface ServiceSpec {
  readonly name: string;
  /** Of the program, in `packages/cli/src`. */
  readonly main: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly logFile: string;
}

const SERVING = / msg="metrics serving" .*addr=(\S+)/;

export class Service implements AsyncDisposable {
  readonly #spec: ServiceSpec;
  #args: readonly string[];
  #process: RunningProcess | undefined;
  #metricsAddress = '';

  constructor(spec: ServiceSpec) {
    this.#spec = spec;
    this.#args = spec.args;
  }

  get name(): string {
    return this.#spec.name;
  }

  /** Those of the next start. */
  get args(): readonly string[] {
    return this.#args;
  }

  get process(): RunningProcess {
    if (this.#process === undefined) throw new Error(`${this.name} does not run`);
    return this.#process;
  }

  /** Of /metrics, /healthz and /readyz; another one after each start. */
  get metricsAddress(): string {
    return this.#metricsAddress;
  }

  /** The value of one series, labels as a scrape writes them; 0 while it is not there. */
  async metric(series: string): Promise<number> {
    const { body } = await http({ url: `http://${this.#metricsAddress}/metrics` });
    const line = body.split('\n').find((each) => each.startsWith(`${series} `));
    return line === undefined ? 0 : Number(line.slice(series.length));
  }

  tail(): string {
    return this.#process?.output.text() ?? '';
  }

  /** Resolves when it serves its metrics. `args` stay for later starts. */
  async start(args: readonly string[] = this.#args): Promise<void> {
    this.#args = args;
    const { name, main, env = {}, logFile } = this.#spec;
    const spec: ProcessSpec = {
      name,
      command: process.execPath,
      args: [main, ...args],
      env,
      logFile,
      ready: { kind: 'line', pattern: SERVING },
    };
    this.#process = await startProcess(spec);
    const [, address = ''] = await this.#process.waitForLine(SERVING);
    this.#metricsAddress = address;
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  /** SIGTERM. */
  stop(): Promise<ProcessExit> {
    return this.process.stop();
  }

  /** SIGKILL, and again. */
  async restart(args?: readonly string[]): Promise<void> {
    await this.kill();
    await this.start(args);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
