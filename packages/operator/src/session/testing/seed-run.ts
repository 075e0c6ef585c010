// One seed: an operator and a shard that folds, holds and rejects roll-ups, on a network that loses
// calls, partitions, crashes and crawls, while demand, links and machine states change. Checked all
// the time: no request is acknowledged before the shard applied a roll-up with it; every session
// begins with Hello and its complete identities. Checked after the network calmed down: the shard has
// exactly the cluster's demand, links and phantoms, every request is acknowledged, the newest state of every
// machine is written, nothing is left over.

import assert from 'node:assert/strict';
import { createRandom, type Random } from '@bigfleet/base';
import { MachineState, type OperatorMessage } from '@bigfleet/wire';
import { randomFaults } from '@bigfleet/wire/memory';
import { request } from '../../rollup/testing/requests.ts';
import { World } from './world.ts';

const FAULTS_MS = 240_000;
const CALM_MS = 240_000;
const ADDRESS = 'shard:7780';

type Payload = OperatorMessage['payload'];

class SeedRun {
  readonly #world: World;
  readonly #random: Random;
  /** By priority, which stands for the request here. */
  readonly #pending = new Set<number>();
  readonly #applied = new Set<number>();
  readonly #states = new Map<string, MachineState>();
  #lastApplied: number[] = [];
  #nextPriority = 0;
  #checkedAcks = 0;
  #isCalm = false;

  constructor(seed: string) {
    const random = createRandom(seed);
    const faults = randomFaults(random.stream('faults'), {
      hosts: ['operator', 'shard'],
      addresses: [ADDRESS],
      untilMs: FAULTS_MS,
      everyMs: 12_000,
      maxFaultMs: 45_000,
    });
    this.#random = random.stream('life');
    this.#world = new World({ seed, faults, settings: { onChangeSpacingMs: 500 } });
    this.#world.network.watchHost('shard', (event) => {
      if (event === 'up') this.#world.network.listen(ADDRESS, this.#world.shard.router);
    });
    const { behaviour } = this.#world.shard;
    behaviour.echo = undefined;
    behaviour.resyncs = false;
    this.#world.shard.onMessage = (session, { payload }) => this.#onMessage(session, payload);
  }

  async run(): Promise<{ readonly sessionCount: number; readonly acknowledgedCount: number }> {
    while (this.#world.time.nowMs < FAULTS_MS) {
      this.#live();
      await this.#world.run(1 + this.#random.below(900));
      this.#checkAcknowledged();
    }
    this.#isCalm = true;
    this.#world.network.cancelPlan();
    this.#world.network.apply({ kind: 'restart', host: 'shard' });
    this.#world.network.apply({ kind: 'restart', host: 'operator' });
    this.#world.network.apply({ kind: 'calm' });
    this.#world.shard.resumeReading();
    await this.#world.run(CALM_MS);
    this.#checkAcknowledged();
    this.#checkConverged();
    await this.#world.close();
    const { shard, cluster } = this.#world;
    return {
      sessionCount: shard.sessions.length,
      acknowledgedCount: cluster.acknowledged.length,
    };
  }

  /** One change of the world. */
  #live(): void {
    const { cluster, shard } = this.#world;
    const machine = `m${this.#random.below(6)}`;
    switch (this.#random.below(7)) {
      case 0:
        this.#nextPriority++;
        this.#pending.add(this.#nextPriority);
        cluster.request(
          request({ uid: `r${this.#nextPriority}`, spec: { priority: this.#nextPriority } }),
        );
        return;
      case 1: {
        const [oldest] = this.#pending;
        if (oldest === undefined || this.#random.below(3) > 0) return;
        this.#pending.delete(oldest);
        cluster.index?.delete(`r${oldest}`);
        return;
      }
      case 2:
        if (this.#random.below(2) === 0) cluster.link(machine, `n${this.#random.below(100)}`);
        else cluster.unlink(machine);
        return;
      case 3:
        this.#states.set(machine, (1 + this.#random.below(8)) as MachineState);
        this.#sendState(machine);
        return;
      case 4:
        cluster.phantom(...['m0', 'm1', 'm2'].filter(() => this.#random.below(2) === 0));
        return;
      case 5:
        cluster.writeMs = this.#random.below(3) * 400;
        return;
      default:
        shard.behaviour.isReading = this.#random.below(4) > 0;
        if (shard.behaviour.isReading) shard.resumeReading();
    }
  }

  #sendState(machineId: string): void {
    const session = this.#world.shard.sessions.at(-1);
    const state = this.#states.get(machineId) ?? MachineState.UNSPECIFIED;
    const value = { supersedesKey: `node:${machineId}`, machineId, clusterId: 'eu-1', state };
    session?.send({ case: 'nodeStateUpdate', value });
  }

  #onMessage(session: World['shard']['session'], payload: Payload): void {
    if (session.received.length === 1) assert.equal(payload.case, 'hello');
    if (payload.case === 'hello') {
      for (const machineId of this.#states.keys()) this.#sendState(machineId);
      session.ack('resync');
    }
    if (payload.case === 'nodeIdentity') {
      assert.equal(payload.value.complete, session.all('nodeIdentity').length === 1);
    }
    if (payload.case === 'rollup') this.#onRollup(session, payload.value.needs);
  }

  /** While the weather is bad the shard rejects, holds and folds; two sessions never share a table. */
  #onRollup(session: World['shard']['session'], needs: readonly { priority: number }[]): void {
    const choice = this.#isCalm ? 9 : this.#random.below(10);
    if (choice === 0) return;
    if (choice === 1) {
      session.ack('rollup-held');
      return;
    }
    this.#lastApplied = needs.map(({ priority }) => priority);
    for (const priority of this.#lastApplied) this.#applied.add(priority);
    session.ack('rollup');
  }

  #checkAcknowledged(): void {
    const { acknowledged } = this.#world.cluster;
    for (; this.#checkedAcks < acknowledged.length; this.#checkedAcks++) {
      const priority = Number(acknowledged[this.#checkedAcks]?.slice(1));
      assert.ok(this.#applied.has(priority), `r${priority} was acknowledged early`);
    }
  }

  #checkConverged(): void {
    const { operator, shard, cluster, log } = this.#world;
    assert.equal(operator.isConnected, true, log.lines.slice(-5).join('\n'));
    const demanded = [...this.#pending].sort((a, b) => a - b);
    assert.deepEqual(
      this.#lastApplied.toSorted((a, b) => a - b),
      demanded,
    );
    const acknowledged = new Set(cluster.acknowledged);
    assert.deepEqual(
      demanded.filter((priority) => !acknowledged.has(`r${priority}`)),
      [],
    );
    const written = new Map(cluster.states.map(({ machineId, state }) => [machineId, state]));
    for (const [machineId, state] of this.#states) assert.equal(written.get(machineId), state);
    assert.deepEqual(linksAt(shard.session), new Map(linkNames(cluster.links.values())));
    const reported = shard.session.all('nodeIdentity').at(-1)?.phantomMachineIds;
    assert.deepEqual(reported, cluster.phantoms);
    assert.equal(cluster.machineSweeps.at(-1)?.length, this.#states.size);
  }
}

function* linkNames(links: Iterable<{ machineId: string; nodeName: string }>) {
  for (const { machineId, nodeName } of links) yield [machineId, nodeName] as const;
}

/** What a shard makes of the identity frames of one session. */
function linksAt(session: World['shard']['session']): Map<string, string> {
  const known = new Map<string, string>();
  for (const { nodes } of session.all('nodeIdentity')) {
    for (const { machineId, nodeName, removed } of nodes) {
      if (removed) known.delete(machineId);
      else known.set(machineId, nodeName);
    }
  }
  return known;
}

export async function runSeed(
  seed: string,
): Promise<{ sessionCount: number; acknowledgedCount: number }> {
  try {
    return await new SeedRun(seed).run();
  } catch (cause) {
    throw new Error(`seed ${seed}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}
