// One `bigfleet coordinator` process that is started, killed, frozen and started again on the same
// address and data directory, and how an outsider sees it: RPCs over a connection of the test's own
// and the HTTP probes. Its output is part of every failure.

import path from 'node:path';
import { realRuntime } from '@bigfleet/base/real';
import {
  type Channel,
  type Client,
  Coordinator,
  CoordinatorAdmin,
  createClient,
  createGrpcChannel,
} from '@bigfleet/wire';
import {
  ATTEMPT_MS,
  eventually,
  http,
  type Place,
  type ProcessExit,
  type RunningProcess,
  startProcess,
  withDeadline,
} from '../../toolkit/index.ts';

const runtime = realRuntime();
/** Run as a process, never imported. */
const MAIN = path.join(import.meta.dirname, '../../../packages/cli/src/main.ts');

export interface CoordinatorSpec {
  readonly nodeId: string;
  readonly place: Place;
  readonly port: number;
  readonly metricsPort: number;
  readonly dataDir: string;
  /** Beside identity, addresses and data directory. */
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export class CoordinatorProcess implements AsyncDisposable {
  readonly nodeId: string;
  readonly address: string;
  readonly dataDir: string;
  readonly coordinator: Client<typeof Coordinator>;
  readonly admin: Client<typeof CoordinatorAdmin>;
  readonly #spec: CoordinatorSpec;
  readonly #channel: Channel;
  #process: RunningProcess | undefined;

  constructor(spec: CoordinatorSpec) {
    this.#spec = spec;
    this.nodeId = spec.nodeId;
    this.dataDir = spec.dataDir;
    this.address = `${spec.place.address}:${spec.port}`;
    this.#channel = dialCoordinator(this.address);
    this.coordinator = createClient(Coordinator, this.#channel);
    this.admin = createClient(CoordinatorAdmin, this.#channel);
  }

  get isRunning(): boolean {
    return this.#process !== undefined && this.#process.exit === undefined;
  }

  get process(): RunningProcess {
    if (this.#process === undefined) throw new Error(`${this.nodeId} was never started`);
    return this.#process;
  }

  outputText(): string {
    return this.#process?.output.text() ?? '';
  }

  /** Does not wait for anything but the process itself. */
  async start(): Promise<void> {
    const { place, port, metricsPort, argv, env } = this.#spec;
    const { address } = place;
    this.#process = await startProcess({
      name: this.nodeId,
      ...place.command(process.execPath, [
        MAIN,
        'coordinator',
        `--id=${this.nodeId}`,
        `--listen=${address}:${port}`,
        `--metrics-addr=${address}:${metricsPort}`,
        `--data-dir=${this.dataDir}`,
        '--rebalance-interval=0',
        ...argv,
      ]),
      ...(env === undefined ? {} : { env }),
    });
  }

  async probe(path: 'healthz' | 'readyz'): Promise<{ status: number; body: string }> {
    const { place, metricsPort } = this.#spec;
    return http({ url: `http://${place.address}:${metricsPort}/${path}`, withinMs: ATTEMPT_MS });
  }

  async metric(series: string): Promise<number> {
    const { place, metricsPort } = this.#spec;
    const { body } = await http({ url: `http://${place.address}:${metricsPort}/metrics` });
    const line = body.split('\n').find((each) => each.startsWith(`${series} `));
    return line === undefined ? Number.NaN : Number(line.slice(series.length + 1));
  }

  /** Ready as its own probe says: it sees a leader. */
  async waitReady(): Promise<void> {
    await eventually(async () => (await this.probe('readyz')).status === 200, {
      what: `${this.nodeId} ready`,
      details: () => this.outputText(),
      hopeless: () => (this.isRunning ? undefined : 'it ended'),
    });
  }

  async waitExit(): Promise<ProcessExit> {
    return this.process.waitExit();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#channel.close();
    await this.#process?.kill();
  }
}

/** Never pings: a call to a frozen process must wait in its socket until it wakes. */
function dialCoordinator(target: string): Channel {
  return createGrpcChannel({
    runtime,
    target,
    keepalive: { timeMs: 600_000, timeoutMs: 600_000 },
    reconnectBackoffMs: { initial: 20, max: 50 },
  });
}

export interface Leader {
  readonly replica: CoordinatorProcess;
  readonly term: bigint;
}

/** Which of some replicas leads, asked of each of them as an operator would. */
export function findLeader(replicas: readonly CoordinatorProcess[]): Promise<Leader> {
  return eventually(
    async () => {
      for (const replica of replicas.filter(({ isRunning }) => isRunning)) {
        const status = await withDeadline('status', ATTEMPT_MS, (signal) =>
          replica.admin.getStatus({}, { signal }),
        );
        if (status.isLeader) return { replica, term: status.coordinatorTerm };
      }
      return undefined;
    },
    { what: 'a coordinator that leads' },
  );
}
