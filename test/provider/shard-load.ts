// One shard under the SIGKILL law: walks its machines through their lifecycle, remembers every
// answer it got, and after a restart of the provider checks that nothing of it was forgotten.
// A machine has at most one call in flight, as with a real shard; the call that a kill cut off may
// or may not have counted, and the next look at the machine tells.

import assert from 'node:assert/strict';
import {
  type Client,
  type CapacityProvider,
  type Machine,
  MachineState,
  RpcError,
} from '@bigfleet/wire';
import { eventually, sleep } from '../toolkit/index.ts';
import type { ProviderClient } from './child.ts';

type Calls = Client<typeof CapacityProvider>;

const KINDS = ['create', 'configure', 'drain', 'delete'] as const;
type Kind = (typeof KINDS)[number];

const TARGET: Readonly<Record<Kind, MachineState>> = {
  create: MachineState.IDLE,
  configure: MachineState.CONFIGURED,
  drain: MachineState.IDLE,
  delete: MachineState.SPECULATIVE,
};
const POLL_MS = 2;
const EPOCH = 3n;

/** What one machine's provider has acknowledged. */
interface Account {
  readonly machineId: string;
  /** The last operation that was acknowledged; a machine starts as if it had been deleted. */
  last: { readonly kind: Kind; readonly operationId: string | undefined; readonly cluster: string };
  /** The newest token that was answered in any way. */
  answered: bigint | undefined;
  /** The call that a kill cut off. */
  open: { readonly kind: Kind; readonly cluster: string } | undefined;
}

/** Operation ids of all shards together; one is never given out twice. */
export class OperationLedger {
  readonly #owners = new Map<string, string>();

  get size(): number {
    return this.#owners.size;
  }

  /** `cycle` names one acceptance; answering it again with the same id is right. */
  record(operationId: string, cycle: string): void {
    assert.notEqual(operationId, '');
    const owner = this.#owners.get(operationId) ?? cycle;
    assert.equal(owner, cycle, `operation id ${operationId} was given out twice`);
    this.#owners.set(operationId, cycle);
  }
}

export class ShardLoad {
  readonly #shardId: string;
  readonly #accounts: readonly Account[];
  readonly #ledger: OperationLedger;
  #sequence = 0n;
  #cycle = 0;
  #interruptedCount = 0;

  constructor(shardId: string, machineIds: readonly string[], ledger: OperationLedger) {
    this.#shardId = shardId;
    this.#ledger = ledger;
    this.#accounts = machineIds.map((machineId) => ({
      machineId,
      last: { kind: 'delete', operationId: undefined, cluster: '' },
      answered: undefined,
      open: undefined,
    }));
  }

  /** Configures that a kill had interrupted for good. */
  get interruptedCount(): number {
    return this.#interruptedCount;
  }

  /** All machines at once, until the provider is gone. */
  async run(calls: Calls): Promise<void> {
    await Promise.all(this.#accounts.map((account) => this.#walk(calls, account)));
  }

  /** After a restart: every machine, against what was acknowledged. */
  async check(provider: ProviderClient): Promise<void> {
    await Promise.all(this.#accounts.map((account) => this.#checkOne(provider, account)));
  }

  async #walk(calls: Calls, account: Account): Promise<void> {
    for (;;) {
      const kind = nextKind(account.last.kind);
      if (this.#sequence % 7n === 3n && !(await this.#misplaced(calls, account))) return;
      if (!(await this.#mutate(calls, account, kind))) return;
      if (!(await isSettled(calls, account.machineId, TARGET[kind]))) return;
    }
  }

  /** False when the provider is gone. */
  async #mutate(calls: Calls, account: Account, kind: Kind): Promise<boolean> {
    const token = this.#nextToken();
    const cluster = kind === 'configure' ? `cluster-${token}` : account.last.cluster;
    account.open = { kind, cluster };
    try {
      const ack = await this.#send(calls, account, kind, token, cluster);
      account.answered = token;
      account.open = undefined;
      this.#accept(account, kind, ack.operationId, cluster);
      return true;
    } catch (error) {
      return this.#isGone(error, `${kind} of ${account.machineId}`);
    }
  }

  /** A call from the wrong state is refused, but its token counts from then on. */
  async #misplaced(calls: Calls, account: Account): Promise<boolean> {
    const token = this.#nextToken();
    const wrong = account.last.kind === 'configure' ? 'delete' : 'drain';
    if (account.last.kind !== 'configure' && account.last.kind !== 'delete') return true;
    try {
      await this.#send(calls, account, wrong, token, '');
    } catch (error) {
      if (error instanceof RpcError && error.code === 'INTERNAL') {
        account.answered = token;
        return true;
      }
      return this.#isGone(error, `misplaced ${wrong}`);
    }
    throw new Error(`a ${wrong} after ${account.last.kind} was accepted`);
  }

  async #checkOne({ calls, admin }: ProviderClient, account: Account): Promise<void> {
    const { machineId, open } = account;
    if (account.answered !== undefined) await this.#checkFence(calls, account, account.answered);
    const targets = open === undefined ? [] : [TARGET[open.kind]];
    const machine = await settled(calls, machineId, [TARGET[account.last.kind], ...targets]);
    if (machine.state === MachineState.FAILED) {
      this.#checkInterrupted(machine, account);
      await admin.resetFailed({ machineId });
      return;
    }
    const counted = open !== undefined && machine.state === TARGET[open.kind];
    const kind = counted ? open.kind : account.last.kind;
    const cluster = counted ? open.cluster : account.last.cluster;
    checkBinding(machine, kind, cluster);
    const operationId = await this.#replayed(calls, account, kind, cluster);
    if (counted) this.#accept(account, kind, operationId, cluster);
    else assert.equal(operationId, account.last.operationId, `${kind} of ${machineId}`);
    account.open = undefined;
  }

  /** A Configure can't be resumed, since the blob is not kept; the binding still shows whose. */
  #checkInterrupted(machine: Machine, account: Account): void {
    const configure = [account.open, account.last].find((call) => call?.kind === 'configure');
    assert.ok(configure !== undefined, `${machine.id} failed: ${machine.lastError}`);
    assert.match(machine.lastError, /configure: interrupted by a provider restart/);
    checkBinding(machine, 'configure', configure.cluster);
    this.#interruptedCount += 1;
    account.open = undefined;
    account.last = { kind: 'delete', operationId: undefined, cluster: '' };
  }

  async #checkFence(calls: Calls, account: Account, token: bigint): Promise<void> {
    await assert.rejects(
      this.#send(calls, account, 'create', token, ''),
      (error: unknown) => error instanceof RpcError && error.code === 'FAILED_PRECONDITION',
      `the fence mark of ${account.machineId} moved back below ${token}`,
    );
  }

  /** The id that a repetition gets: the recorded one. A machine that was never created has none. */
  async #replayed(
    calls: Calls,
    account: Account,
    kind: Kind,
    cluster: string,
  ): Promise<string | undefined> {
    if (kind === 'delete' && account.last.operationId === undefined) return undefined;
    const token = this.#nextToken();
    const ack = await this.#send(calls, account, kind, token, cluster);
    account.answered = token;
    return ack.operationId;
  }

  #accept(account: Account, kind: Kind, operationId: string | undefined, cluster: string): void {
    assert.ok(operationId !== undefined);
    this.#cycle += 1;
    this.#ledger.record(operationId, `${this.#shardId} ${account.machineId} ${this.#cycle}`);
    account.last = { kind, operationId, cluster: kind === 'configure' ? cluster : '' };
  }

  #send(
    calls: Calls,
    { machineId }: Account,
    kind: Kind,
    sequenceNumber: bigint,
    clusterId: string,
  ): Promise<{ operationId: string }> {
    const token = { shardId: this.#shardId, shardEpoch: EPOCH, sequenceNumber };
    const shardMetadata = metadataOf(clusterId);
    switch (kind) {
      case 'create':
        return calls.create({ machineId, ...token });
      case 'configure':
        return calls.configure({ machineId, clusterId, shardMetadata, ...token });
      case 'drain':
        return calls.drain({ machineId, gracePeriodSeconds: 1n, ...token });
      case 'delete':
        return calls.delete({ machineId, ...token });
    }
  }

  #nextToken(): bigint {
    this.#sequence += 1n;
    return this.#sequence;
  }

  /** What a killed server looks like; anything else is a finding. */
  #isGone(error: unknown, what: string): false {
    const isGone =
      error instanceof RpcError && (error.code === 'UNAVAILABLE' || error.code === 'CANCELLED');
    if (!isGone) throw new Error(`${this.#shardId}: ${what}`, { cause: error });
    return false;
  }
}

function nextKind(kind: Kind): Kind {
  return KINDS[(KINDS.indexOf(kind) + 1) % KINDS.length] ?? 'create';
}

function metadataOf(cluster: string): Record<string, string> {
  return { 'bigfleet.lucy.sh/assigned-group': `${cluster}\0😀`, empty: '' };
}

function checkBinding(machine: Machine, kind: Kind, cluster: string): void {
  if (kind === 'configure') {
    assert.equal(machine.cluster, cluster);
    assert.deepEqual({ ...machine.shardMetadata }, metadataOf(cluster));
  } else {
    assert.equal(machine.cluster, '');
    assert.deepEqual({ ...machine.shardMetadata }, {});
  }
}

async function settled(
  calls: Calls,
  id: string,
  targets: readonly MachineState[],
): Promise<Machine> {
  let seen = 'nothing';
  return eventually(
    async () => {
      const machine = await calls.get({ id });
      seen = `state ${machine.state} ${machine.lastError}`;
      return [...targets, MachineState.FAILED].includes(machine.state) && machine;
    },
    {
      what: `${id} in one of the states ${targets.join(', ')}`,
      everyMs: 5,
      details: () => seen,
    },
  );
}

/** False when the provider is gone. */
async function isSettled(calls: Calls, id: string, target: MachineState): Promise<boolean> {
  for (let poll = 0; poll < 10_000; poll++) {
    let machine: Machine;
    try {
      machine = await calls.get({ id });
    } catch (error) {
      if (error instanceof RpcError && error.code !== 'NOT_FOUND') return false;
      throw error;
    }
    assert.notEqual(machine.state, MachineState.FAILED, `${id}: ${machine.lastError}`);
    if (machine.state === target) return true;
    // Forty machines that poll without a pause would starve the process they ask.
    await sleep(POLL_MS);
  }
  throw new Error(`${id} never came to state ${target}`);
}
