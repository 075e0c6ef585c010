// A small installation of real processes for `bigfleetctl`: a coordinator on SQLite, a kit provider
// that is registered there and refuses its one machine at first, a shard that learns of it from the
// registry, and a cluster that wants something.

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CoordinatorProcess } from '../coordinator/failover/coordinator-process.ts';
import {
  type ShardProcess,
  startOperator,
  startShardProcess,
  type TestOperator,
} from '../shard/shard-process.ts';
import { createTempDir, leasePort, startProcess } from '../toolkit/index.ts';
import { bigfleetctl, type Ended } from './bigfleetctl.ts';

const PROVIDER_MAIN = path.join(import.meta.dirname, 'refusing-provider-main.ts');
const SERVING = / msg="serving CapacityProvider" .* addr=(\S+) /;

export class Installation implements AsyncDisposable {
  readonly coordinator: CoordinatorProcess;
  readonly shard: ShardProcess;
  readonly operator: TestOperator;
  readonly #refusal: string;
  readonly #opened: AsyncDisposableStack;

  static async start(): Promise<Installation> {
    await using opening = new AsyncDisposableStack();
    const folder = opening.use(createTempDir('ctl'));
    const refusal = path.join(folder.path, 'refuse');
    writeFileSync(refusal, '');
    const coordinator = await startCoordinator(path.join(folder.path, 'coordinator'), opening);
    const address = await startProvider(folder.path, refusal, opening);
    await coordinator.admin.registerProvider({ provider: { name: 'lab', address, region: 'lab' } });
    // A port of its own: what it is told to listen on is what it advertises.
    const { port } = opening.use(await leasePort());
    const shard = opening.use(
      await startShardProcess([
        '--id=shard-0',
        `--listen=127.0.0.1:${port}`,
        `--data-dir=${path.join(folder.path, 'shard')}`,
        `--coordinator-addr=${coordinator.address}`,
        '--coordinator-heartbeat-interval=500ms',
      ]),
    );
    const operator = opening.use(startOperator('blue', () => shard.address));
    return new Installation({ coordinator, shard, operator, refusal, opened: opening.move() });
  }

  private constructor(given: {
    readonly coordinator: CoordinatorProcess;
    readonly shard: ShardProcess;
    readonly operator: TestOperator;
    readonly refusal: string;
    readonly opened: AsyncDisposableStack;
  }) {
    this.coordinator = given.coordinator;
    this.shard = given.shard;
    this.operator = given.operator;
    this.#refusal = given.refusal;
    this.#opened = given.opened;
  }

  /** From here on the substrate gives machines. */
  stopRefusing(): void {
    rmSync(this.#refusal);
  }

  /** Must succeed; what it printed. */
  async ctl(line: string): Promise<string> {
    const ended = await this.tryCtl(line);
    assert.equal(ended.code, 0, `${line}: exit ${ended.code}\n${ended.out}${ended.err}`);
    return ended.out;
  }

  /** However it ends. */
  tryCtl(line: string): Promise<Ended> {
    return bigfleetctl(`--coordinator=${this.coordinator.address}`, ...line.split(' '));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }
}

async function startCoordinator(
  dataDir: string,
  opening: AsyncDisposableStack,
): Promise<CoordinatorProcess> {
  const coordinator = opening.use(
    new CoordinatorProcess({
      nodeId: 'node-1',
      place: { address: '127.0.0.1', command: (command, args) => ({ command, args }) },
      port: opening.use(await leasePort()).port,
      metricsPort: opening.use(await leasePort()).port,
      dataDir,
      argv: ['--bootstrap'],
    }),
  );
  await coordinator.start();
  await coordinator.waitReady();
  return coordinator;
}

async function startProvider(
  folder: string,
  refusal: string,
  opening: AsyncDisposableStack,
): Promise<string> {
  const child = await startProcess({
    name: 'provider',
    command: process.execPath,
    args: [
      PROVIDER_MAIN,
      '--use-fake-backend',
      '--addr=127.0.0.1:0',
      '--metrics-addr=127.0.0.1:0',
      `--state=${path.join(folder, 'provider.json')}`,
      '--seed-count=1',
      `--refuse=${refusal}`,
    ],
    ready: { kind: 'line', pattern: SERVING },
  });
  opening.use(child);
  const [, address = ''] = await child.waitForLine(SERVING);
  return address;
}
