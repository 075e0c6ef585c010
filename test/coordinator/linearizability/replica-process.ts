// A replica process as its clients see it: it can be killed, frozen and cut off from etcd, and a
// call to it ends in one of three ways: an answer, certainly nothing (`none`), or nobody knows.

import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  type FaultProxy,
  leasePort,
  type PortLease,
  type RunningProcess,
  sleep,
  startFaultProxy,
  startProcess,
} from '../../toolkit/index.ts';
import type { Operation, Outcome } from './model.ts';

const MAIN = fileURLToPath(new URL('./replica-main.ts', import.meta.url));

export class ReplicaProcess {
  readonly nodeId: string;
  readonly #ttlMs: number;
  readonly #ports: readonly PortLease[];
  /** Its own paths to the members of etcd. */
  readonly #paths: readonly FaultProxy[];
  #process: RunningProcess | undefined;
  #socket: Socket | undefined;
  #nextId = 1;
  readonly #waiting = new Map<number, (outcome: Outcome | undefined) => void>();

  private constructor(
    nodeId: string,
    ttlMs: number,
    ports: readonly PortLease[],
    paths: readonly FaultProxy[],
  ) {
    this.nodeId = nodeId;
    this.#ttlMs = ttlMs;
    this.#ports = ports;
    this.#paths = paths;
  }

  static async plan(
    nodeId: string,
    ttlMs: number,
    etcdPorts: readonly number[],
  ): Promise<ReplicaProcess> {
    const paths: FaultProxy[] = [];
    for (const targetPort of etcdPorts) paths.push(await startFaultProxy({ targetPort }));
    return new ReplicaProcess(nodeId, ttlMs, [await leasePort(), await leasePort()], paths);
  }

  async start(): Promise<void> {
    const [health, operations] = this.#ports.map(({ port }) => String(port));
    this.#process = await startProcess({
      name: this.nodeId,
      command: process.execPath,
      args: [
        MAIN,
        this.nodeId,
        health ?? '',
        operations ?? '',
        String(this.#ttlMs),
        ...this.#paths.map(({ port }) => `127.0.0.1:${port}`),
      ],
      ready: { kind: 'line', pattern: /^ready$/ },
    });
  }

  outputText(): string {
    return this.#process?.output.text() ?? '';
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  async freeze(): Promise<void> {
    await this.#process?.pause();
  }

  async resume(): Promise<void> {
    await this.#process?.resume();
  }

  /** Silence between it and every member of etcd. */
  cutFromEtcd(isCut: boolean): void {
    for (const path of this.#paths) path.fault('both', { silent: isCut });
  }

  async ask(register: string, operation: Operation, withinMs: number): Promise<Outcome> {
    const lost: Outcome = { kind: operation.kind === 'read' ? 'none' : 'unknown' };
    const socket = await this.#connected();
    if (socket === undefined) return { kind: 'none' };
    const id = this.#nextId++;
    const { promise: answered, resolve } = Promise.withResolvers<Outcome | undefined>();
    this.#waiting.set(id, resolve);
    socket.write(`${JSON.stringify({ id, register, operation })}\n`);
    const waited = new AbortController();
    const tooLate = sleep(withinMs, waited.signal).then(
      () => undefined,
      () => undefined,
    );
    const outcome = await Promise.race([answered, tooLate]);
    waited.abort();
    this.#waiting.delete(id);
    return outcome ?? lost;
  }

  async stop(): Promise<void> {
    this.#socket?.destroy();
    await this.#process?.kill();
    for (const path of this.#paths) await path.stop();
    for (const lease of this.#ports) await lease.release();
  }

  async #connected(): Promise<Socket | undefined> {
    if (this.#socket !== undefined) return this.#socket;
    const socket = connect({ host: '127.0.0.1', port: this.#ports[1]?.port ?? 0 });
    const isUp = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    if (!isUp) return undefined;
    if (this.#socket !== undefined) {
      socket.destroy();
      return this.#socket;
    }
    this.#socket = socket;
    socket.unref();
    // Whatever ends it, those who wait hear of it at `close`.
    socket.on('error', () => {});
    socket.once('close', () => this.#onClosed(socket));
    const lines = createInterface({ input: socket });
    // The reader repeats the socket's error.
    lines.on('error', () => {});
    lines.on('line', (line) => {
      const { id, outcome } = JSON.parse(line) as { id: number; outcome: Outcome };
      this.#waiting.get(id)?.(outcome);
    });
    return socket;
  }

  #onClosed(socket: Socket): void {
    if (this.#socket !== socket) return;
    this.#socket = undefined;
    for (const settle of this.#waiting.values()) settle(undefined);
  }
}
