// Three etcd members and three replica processes, with everything that can go wrong between them.
// One run: clients work on registers of their own while one fault happens and heals; then whoever
// leads must answer again. Its history is judged alone, so that a run costs what it did.

import { createRandom } from '@bigfleet/base';
import { type EtcdCluster, eventually, sleep } from '../../toolkit/index.ts';
import { gateway, outsiderGet } from '../../etcd/gateway.ts';
import { startEtcd } from '../../etcd/binaries.ts';
import { History } from './history.ts';
import { type Judged, judge } from './checker.ts';
import type { Operation, Outcome } from './model.ts';
import { ReplicaProcess } from './replica-process.ts';
import { runWorkload } from './workload.ts';

const TTL_MS = 3_000;
const ANSWER_WITHIN_MS = 2_500;
const BETWEEN_TRIES_MS = 25;
const PEACE_MS = 200;
/** Of every run, however slow the machine: a history of a few answers proves little. */
const MIN_ANSWERS = 20;
const LEADER_KEY = '/bigfleet/leader';

export type Fault =
  | 'kill-leader'
  | 'freeze-leader'
  | 'cut-leader'
  | 'revoke-lease'
  | 'kill-etcd-leader'
  | 'freeze-etcd-leader';

/** How long the fault lasts; a frozen or cut leader must outlive its lease to become a zombie. */
const LASTS_MS: Readonly<Record<Fault, number>> = {
  'kill-leader': 300,
  'freeze-leader': TTL_MS + 500,
  'cut-leader': TTL_MS + 500,
  'revoke-lease': 0,
  'kill-etcd-leader': 500,
  'freeze-etcd-leader': 1_500,
};

export class EtcdWorld implements AsyncDisposable {
  readonly #etcd: EtcdCluster;
  readonly #replicas: readonly ReplicaProcess[];
  /** Who answered last: where clients ask first. */
  #believed = 0;

  private constructor(etcd: EtcdCluster, replicas: readonly ReplicaProcess[]) {
    this.#etcd = etcd;
    this.#replicas = replicas;
  }

  static async start(): Promise<EtcdWorld> {
    const etcd = await startEtcd(3);
    const ports = etcd.endpoints.map((url) => Number(new URL(url).port));
    const replicas: ReplicaProcess[] = [];
    for (let at = 0; at < 3; at += 1) {
      replicas.push(await ReplicaProcess.plan(`node-${at}`, TTL_MS, ports));
    }
    const world = new EtcdWorld(etcd, replicas);
    try {
      await Promise.all(replicas.map((replica) => replica.start()));
      await world.#untilServing('start');
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
    return world;
  }

  async run(seed: string, fault: Fault): Promise<Judged> {
    const history = new History();
    const random = createRandom(seed);
    let isOver = false;
    let isWorkDone = false;
    const working = runWorkload({
      seed,
      history,
      clientCount: 4,
      registers: [`${seed}-a`, `${seed}-b`],
      operationsPerClient: 60,
      run: (_client, register, operation) => this.#ask(register, operation, 2),
      isOver: () => isOver,
    }).finally(() => {
      isWorkDone = true;
    });
    try {
      await sleep(100 + random.below(200));
      await this.#inflict(fault);
      await this.#untilServing(seed);
      // A while of peace: what was left half done must not show up now.
      await sleep(PEACE_MS);
      await eventually(() => isWorkDone || history.heardCount >= MIN_ANSWERS, {
        what: `${seed}: answers in peace`,
      });
    } finally {
      isOver = true;
      await working;
    }
    return judge(history, `${seed} (${fault})`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.stop()));
    await this.#etcd.stop();
  }

  async #inflict(fault: Fault): Promise<void> {
    const lastsMs = LASTS_MS[fault];
    const leader = this.#leader();
    switch (fault) {
      case 'kill-leader':
        await leader.kill();
        await sleep(lastsMs);
        return leader.start();
      case 'freeze-leader':
        await leader.freeze();
        await sleep(lastsMs);
        return leader.resume();
      case 'cut-leader':
        leader.cutFromEtcd(true);
        await sleep(lastsMs);
        return leader.cutFromEtcd(false);
      case 'revoke-lease': {
        const { endpoint } = this.#etcd.member(0);
        const held = await outsiderGet(endpoint, LEADER_KEY);
        if (held !== undefined) await gateway(endpoint, 'lease/revoke', { ID: held.lease });
        return;
      }
      case 'kill-etcd-leader': {
        const member = await this.#etcd.leader();
        await member.kill();
        await sleep(lastsMs);
        await member.restart();
        return this.#etcd.waitHealthy();
      }
      case 'freeze-etcd-leader': {
        const member = await this.#etcd.leader();
        await member.pause();
        await sleep(lastsMs);
        await member.resume();
        return this.#etcd.waitHealthy();
      }
    }
  }

  #leader(): ReplicaProcess {
    const replica = this.#replicas[this.#believed];
    if (replica === undefined) throw new Error(`no replica ${this.#believed}`);
    return replica;
  }

  /** Asks around until somebody leads; gives up after `rounds` over all replicas. */
  async #ask(register: string, operation: Operation, rounds: number): Promise<Outcome> {
    for (let attempt = 0; attempt < rounds * this.#replicas.length; attempt += 1) {
      const at = (this.#believed + attempt) % this.#replicas.length;
      const outcome = await this.#replicas[at]?.ask(register, operation, ANSWER_WITHIN_MS);
      if (outcome !== undefined && outcome.kind !== 'none') {
        if (outcome.kind !== 'unknown') this.#believed = at;
        return outcome;
      }
      await sleep(BETWEEN_TRIES_MS);
    }
    return { kind: 'none' };
  }

  async #untilServing(label: string): Promise<void> {
    await eventually(
      async () => {
        const outcome = await this.#ask('probe', { kind: 'read' }, 1);
        return outcome.kind === 'value';
      },
      {
        what: `${label}: a leader that answers`,
        details: () => this.#replicas.map((replica) => replica.outputText()).join('\n'),
      },
    );
  }
}
