// The state machine written the slow and obvious way: plain nested maps, real cascades instead of
// uids, a full check of every law after each command. It is the second opinion on `decide`; it
// knows outcomes (applied, unchanged, refused), not texts.

import type { CommandBody } from '../commands.ts';

export type Outcome = 'applied' | 'unchanged' | 'refused';

interface Transfer {
  readonly from: string;
  readonly to: string;
  /** Set when that very shard was removed: a namesake is no party of this transfer. */
  fromGone: boolean;
  toGone: boolean;
  readonly tier: 1 | 2;
  phase: 'PREPARING' | 'COMMITTED' | 'DONE' | 'ABORTED';
  machineIds: readonly string[];
  updatedAtMs: number;
  move: { provider: string; region: string; count: number; step: string } | undefined;
}

const DAY_MS = 86_400_000;
const slicesText = (slices: Iterable<[string, number]>): string =>
  [...slices]
    .map(([shard, slice]) => pair(shard, String(slice)))
    .sort()
    .join();
const pair = (a: string, b: string): string => JSON.stringify([a, b]);

export class NaiveModel {
  readonly shards: Map<string, bigint> = new Map();
  readonly clusters: Map<string, string> = new Map();
  readonly domains: Map<string, { shard: string; state: string }> = new Map();
  readonly quotas: Map<string, Map<string, number>> = new Map();
  readonly providers: Map<string, string> = new Map();
  readonly declared: Map<string, number> = new Map();
  readonly homes: Map<string, string> = new Map();
  readonly transfers: Map<string, Transfer> = new Map();
  readonly overrides: Map<string, string> = new Map();

  apply(command: CommandBody, nowMs: number): Outcome {
    switch (command.kind) {
      case 'AddShard':
        if (this.shards.has(command.id)) return 'refused';
        this.shards.set(command.id, 0n);
        return 'applied';
      case 'RemoveShard':
        return this.#removeShard(command.id);
      case 'BindCluster': {
        if (!this.shards.has(command.shard)) return 'refused';
        const bound = this.clusters.get(command.cluster);
        if (bound === command.shard) return 'unchanged';
        if (bound !== undefined && !command.force) return 'refused';
        this.clusters.set(command.cluster, command.shard);
        return 'applied';
      }
      case 'UnbindCluster':
        return this.clusters.delete(command.cluster) ? 'applied' : 'unchanged';
      case 'AssignDomain':
      case 'UnassignDomain':
      case 'DomainReleased':
        return this.#domain(command);
      case 'SetQuota':
        return this.#setQuota(command, nowMs);
      case 'UpsertProvider':
        return this.#upsertProvider(command.entry);
      case 'RemoveProvider':
        if (!this.providers.has(command.name)) return 'refused';
        if (this.#rowsOf(command.name).length > 0) return 'refused';
        this.providers.delete(command.name);
        this.declared.delete(command.name);
        return 'applied';
      case 'SetProviderHome':
        if (!this.shards.has(command.shard)) return 'refused';
        if (command.from === command.shard) return 'refused';
        if ((this.homes.get(command.providerAddress) ?? command.from) !== command.from)
          return 'unchanged';
        this.homes.set(command.providerAddress, command.shard);
        return 'applied';
      case 'RecordShardEpoch': {
        const epoch = this.shards.get(command.shard);
        if (epoch === undefined) return 'refused';
        if (command.epoch <= epoch) return 'unchanged';
        this.shards.set(command.shard, command.epoch);
        return 'applied';
      }
      default:
        return this.#transferCommand(command, nowMs);
    }
  }

  #removeShard(id: string): Outcome {
    if (!this.shards.delete(id)) return 'refused';
    for (const [key, shard] of this.clusters) if (shard === id) this.clusters.delete(key);
    for (const [key, { shard }] of this.domains) if (shard === id) this.domains.delete(key);
    for (const [key, shard] of this.homes) if (shard === id) this.homes.delete(key);
    for (const [key, shard] of this.overrides) if (shard === id) this.overrides.delete(key);
    for (const [key, slices] of this.quotas) {
      slices.delete(id);
      if (slices.size === 0) this.quotas.delete(key);
    }
    for (const transfer of this.transfers.values()) {
      if (transfer.from === id) transfer.fromGone = true;
      if (transfer.to === id) transfer.toGone = true;
    }
    return 'applied';
  }

  #domain(
    command: Extract<CommandBody, { kind: 'AssignDomain' | 'UnassignDomain' | 'DomainReleased' }>,
  ): Outcome {
    const key = pair(command.domain.key, command.domain.value);
    const held = this.domains.get(key);
    if (command.kind === 'UnassignDomain') {
      if (held === undefined || held.state === 'RELEASING') return 'unchanged';
      held.state = 'RELEASING';
      return 'applied';
    }
    if (command.kind === 'DomainReleased') {
      if (held?.state !== 'RELEASING' || held.shard !== command.shard) return 'unchanged';
      this.domains.delete(key);
      return 'applied';
    }
    if (!this.shards.has(command.shard)) return 'refused';
    if (held !== undefined && held.shard !== command.shard) return 'refused';
    if (held?.state === 'ASSIGNED') return 'unchanged';
    this.domains.set(key, { shard: command.shard, state: 'ASSIGNED' });
    return 'applied';
  }

  #setQuota(command: Extract<CommandBody, { kind: 'SetQuota' }>, nowMs: number): Outcome {
    const { provider, region, perShard } = command;
    for (const [shard, slice] of perShard)
      if (slice < 0 || !this.shards.has(shard)) return 'refused';
    const total = [...perShard.values()].reduce((sum, slice) => sum + slice, 0);
    const declared = this.declared.get(provider) ?? 0;
    if (declared > 0 && total > declared) return 'refused';
    const key = pair(provider, region);
    const moves = this.#owing(provider, region);
    const before = slicesText(this.quotas.get(key) ?? []);
    if (moves.length === 0 && before === slicesText(perShard)) return 'unchanged';
    this.quotas.delete(key);
    if (perShard.size > 0) this.quotas.set(key, new Map(perShard));
    for (const transfer of moves) {
      if (transfer.move !== undefined) transfer.move.step = 'RESTORED';
      transfer.updatedAtMs = nowMs;
    }
    return 'applied';
  }

  #upsertProvider(entry: Extract<CommandBody, { kind: 'UpsertProvider' }>['entry']): Outcome {
    if (entry.declaredQuota > 0) {
      for (const [key, slices] of this.#rowsOf(entry.name)) {
        const [, region = ''] = JSON.parse(key) as string[];
        const owed = this.#owing(entry.name, region).reduce((n, t) => n + (t.move?.count ?? 0), 0);
        const total = [...slices.values()].reduce((sum, slice) => sum + slice, owed);
        if (total > entry.declaredQuota) return 'refused';
      }
    }
    const text = JSON.stringify({ ...entry, shards: [...new Set(entry.shards)].sort() });
    if (this.providers.get(entry.name) === text) return 'unchanged';
    this.providers.set(entry.name, text);
    this.declared.set(entry.name, entry.declaredQuota);
    return 'applied';
  }

  #rowsOf(provider: string): [string, Map<string, number>][] {
    return [...this.quotas].filter(([key]) => (JSON.parse(key) as string[])[0] === provider);
  }

  #owing(provider: string, region: string): Transfer[] {
    return [...this.transfers.values()].filter(
      ({ move }) => move?.provider === provider && move.region === region && move.step === 'SHRUNK',
    );
  }

  #transferCommand(command: CommandBody, nowMs: number): Outcome {
    switch (command.kind) {
      case 'BeginTransfer':
        return this.#begin(command, nowMs);
      case 'ClearOverrides': {
        if (command.machineIds.length === 0) return 'refused';
        const owned = command.machineIds.filter((id) => this.overrides.get(id) === command.owner);
        for (const id of owned) this.overrides.delete(id);
        return owned.length > 0 ? 'applied' : 'unchanged';
      }
      case 'GcTransfers': {
        const cutMs = Math.min(command.beforeMs, nowMs - DAY_MS);
        const old = [...this.transfers].filter(
          ([, t]) => (t.phase === 'DONE' || t.phase === 'ABORTED') && t.updatedAtMs < cutMs,
        );
        for (const [id] of old) this.transfers.delete(id);
        return old.length > 0 ? 'applied' : 'unchanged';
      }
      case 'RestoreTransfer':
        return this.#restoreTransfer(command.transfer, nowMs);
      case 'RestoreOverride': {
        if (!this.shards.has(command.owner)) return 'refused';
        const held = this.overrides.get(command.machineId);
        if (held === command.owner) return 'unchanged';
        if (held !== undefined) return 'refused';
        this.overrides.set(command.machineId, command.owner);
        return 'applied';
      }
      case 'CommitTransfer':
      case 'FinishTransfer':
      case 'AbortTransfer':
      case 'MoveQuota': {
        const transfer = this.transfers.get(command.id);
        if (transfer === undefined) return 'refused';
        const outcome = this.#step(transfer, command);
        if (outcome === 'applied') transfer.updatedAtMs = nowMs;
        return outcome;
      }
      default:
        throw new Error(`the model does not know ${command.kind}`);
    }
  }

  #begin(command: Extract<CommandBody, { kind: 'BeginTransfer' }>, nowMs: number): Outcome {
    const { id, from, to, tier } = command;
    if (from === to) return 'refused';
    const known = this.transfers.get(id);
    if (known !== undefined)
      return known.from === from && known.to === to && known.tier === tier
        ? 'unchanged'
        : 'refused';
    if (!this.shards.has(from) || !this.shards.has(to)) return 'refused';
    for (const other of this.transfers.values()) {
      if (other.phase === 'DONE' || other.phase === 'ABORTED') continue;
      if (other.from === from && !other.fromGone) return 'refused';
      if (other.to === to && !other.toGone) return 'refused';
    }
    this.transfers.set(id, {
      from,
      to,
      fromGone: false,
      toGone: false,
      tier,
      phase: 'PREPARING',
      machineIds: [],
      updatedAtMs: nowMs,
      move: undefined,
    });
    return 'applied';
  }

  #step(
    transfer: Transfer,
    command: Extract<
      CommandBody,
      { kind: 'CommitTransfer' | 'FinishTransfer' | 'AbortTransfer' | 'MoveQuota' }
    >,
  ): Outcome {
    if (command.kind === 'MoveQuota') return this.#moveQuota(transfer, command);
    if (command.kind === 'FinishTransfer') {
      if (transfer.phase === 'DONE') return 'unchanged';
      if (transfer.phase !== 'COMMITTED') return 'refused';
      transfer.phase = 'DONE';
      return 'applied';
    }
    if (command.kind === 'AbortTransfer') {
      if (transfer.phase === 'ABORTED') return 'unchanged';
      if (transfer.phase !== 'PREPARING' || transfer.move?.step === 'SHRUNK') return 'refused';
      transfer.phase = 'ABORTED';
      return 'applied';
    }
    const { machineIds, maxOverrides } = command;
    if (machineIds.length === 0 || transfer.tier !== 1) return 'refused';
    if (transfer.phase === 'COMMITTED')
      return String(transfer.machineIds) === String(machineIds) ? 'unchanged' : 'refused';
    if (transfer.phase !== 'PREPARING' || transfer.fromGone || transfer.toGone) return 'refused';
    if (!this.#mayTake(transfer, machineIds)) return 'refused';
    if (new Set([...this.overrides.keys(), ...machineIds]).size > maxOverrides) return 'refused';
    this.#take(transfer, machineIds);
    return 'applied';
  }

  #mayTake({ from, to }: { from: string; to: string }, ids: readonly string[]): boolean {
    const owners = ids.map((id) => this.overrides.get(id));
    return owners.every((owner) => owner === undefined || owner === from || owner === to);
  }

  #take(transfer: Transfer, ids: readonly string[]): void {
    transfer.phase = 'COMMITTED';
    transfer.machineIds = ids;
    for (const id of ids) this.overrides.set(id, transfer.to);
  }

  #restoreTransfer(
    restored: Extract<CommandBody, { kind: 'RestoreTransfer' }>['transfer'],
    nowMs: number,
  ): Outcome {
    const { id, from, to, machineIds } = restored;
    if (from === to || machineIds.length === 0 || !this.shards.has(to)) return 'refused';
    const known = this.transfers.get(id);
    if (known !== undefined && (known.from !== from || known.to !== to || known.tier !== 1))
      return 'refused';
    if (known?.phase === 'COMMITTED' || known?.phase === 'DONE') return 'unchanged';
    if (!this.#mayTake(restored, machineIds)) return 'refused';
    const transfer: Transfer = {
      from,
      to,
      fromGone: !this.shards.has(from),
      toGone: false,
      tier: 1,
      phase: 'COMMITTED',
      machineIds,
      updatedAtMs: nowMs,
      move: undefined,
    };
    this.transfers.set(id, transfer);
    this.#take(transfer, machineIds);
    return 'applied';
  }

  #moveQuota(transfer: Transfer, command: Extract<CommandBody, { kind: 'MoveQuota' }>): Outcome {
    const { provider, region, count, step } = command;
    if (count === 0 || transfer.tier !== 2) return 'refused';
    if (transfer.from !== command.from || transfer.to !== command.to) return 'refused';
    const { move } = transfer;
    if (move !== undefined && (move.provider !== provider || move.region !== region))
      return 'refused';
    if (move !== undefined && move.count !== count) return 'refused';
    const wanted = { SHRINK: 'SHRUNK', GROW: 'GROWN', RESTORE: 'RESTORED' }[step];
    if (move?.step === wanted) return 'unchanged';
    const key = pair(provider, region);
    const slices = this.quotas.get(key) ?? new Map<string, number>();
    if (step === 'SHRINK') {
      if (move !== undefined || transfer.phase !== 'PREPARING') return 'refused';
      if (transfer.fromGone || transfer.toGone) return 'refused';
      const held = slices.get(transfer.from) ?? 0;
      if (held < count) return 'refused';
      slices.set(transfer.from, held - count);
      transfer.move = { provider, region, count, step: 'SHRUNK' };
      return 'applied';
    }
    if (move?.step !== 'SHRUNK') return 'refused';
    if (step === 'GROW') {
      if (transfer.toGone) return 'refused';
      slices.set(transfer.to, (slices.get(transfer.to) ?? 0) + count);
      transfer.phase = 'COMMITTED';
    } else if (!transfer.fromGone) {
      slices.set(transfer.from, (slices.get(transfer.from) ?? 0) + count);
    }
    if (slices.size > 0) this.quotas.set(key, slices);
    move.step = wanted;
    return 'applied';
  }
}
