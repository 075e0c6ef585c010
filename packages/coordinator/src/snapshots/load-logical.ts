// A logical snapshot back into rows (coordinator §10.1). Every row is replayed through the rules of
// live commands, so a snapshot cannot build a state that the live path would refuse; a refused row
// is reported, the others stand. Keys that this version does not know are ignored.

import { describeThrown } from '@bigfleet/base';
import type { CommandBody } from '../state/commands.ts';
import { decide } from '../state/decide/decide.ts';
import { nameProblem, shardIdProblem } from '../state/decide/inputs.ts';
import { machineIdsProblem, MAX_TRANSFER_MACHINES } from '../state/decide/transfers.ts';
import { FleetState } from '../state/fleet-state.ts';
import {
  type Codec,
  count,
  type DecodeContext,
  objectOf,
  oneOf,
  parseJson,
  record,
  text,
} from '../state/json-codec.ts';
import { keyOfRow } from '../state/keys.ts';
import { SCHEMA } from '../state/meta.ts';
import { encodeRow, metaCodec, rowCodecs } from '../state/row-format.ts';
import type {
  Domain,
  DomainRow,
  Meta,
  Table,
  TableRows,
  TransferRow,
  RowKey,
  Write,
  LoadedState,
  StoredRow,
} from '../state/rows.ts';
import { malformedSnapshot, type SnapshotMeta } from './snapshot-meta.ts';

export interface RejectedRow {
  /** Section and position, as in `quotas[3]`. */
  readonly at: string;
  readonly reason: string;
}

export interface LoadedLogical {
  readonly loaded: LoadedState;
  readonly rejected: readonly RejectedRow[];
}

/** Throws `snapshot_malformed` when the document as a whole cannot be read. */
export function loadLogical(source: string, archive: SnapshotMeta): LoadedLogical {
  try {
    const root = objectOf(parseJson(source, AT_ROOT), AT_ROOT);
    return new LogicalLoader(root, metaOf(root, archive)).load();
  } catch (error) {
    throw malformedSnapshot(`the logical state cannot be read: ${describeThrown(error)}`, error);
  }
}

const AT_ROOT: DecodeContext = { at: 'state', unknownKeys: 'ignore' };
type Sections = Readonly<Record<string, unknown>>;

/** A document without our meta section takes its place from meta.json. */
function metaOf(root: Sections, archive: SnapshotMeta): Meta {
  if (!Object.hasOwn(root, 'meta')) {
    return {
      schema: SCHEMA,
      clusterUid: archive.clusterUid,
      term: BigInt(archive.term),
      applyIndex: archive.index,
      lastCommandId: '',
      assignmentRevision: 0,
      ledgerGeneration: archive.ledgerGeneration ?? 0,
    };
  }
  const context = { ...AT_ROOT, at: 'meta' };
  const schema = count.decode(objectOf(root['meta'], context)['schema'], context);
  if (schema > SCHEMA) throw malformedSnapshot(`schema ${schema} is newer than ${SCHEMA}`);
  const meta = { ...metaCodec.decode(root['meta'], context), schema: SCHEMA };
  if (meta.applyIndex !== archive.index || meta.clusterUid !== archive.clusterUid)
    throw malformedSnapshot('meta.json describes another state');
  return meta;
}

const domainCodec = record<{ readonly domain: Domain; readonly shard: string }>({
  domain: record<Domain>({ key: text, value: text }),
  shard: text,
});
const domainState: Codec<DomainRow['state']> = oneOf(['ASSIGNED', 'RELEASING']);

class LogicalLoader {
  readonly #root: Sections;
  readonly #meta: Meta;
  readonly #state: FleetState;
  readonly #rows = new Map<RowKey, StoredRow>();
  readonly #rejected: RejectedRow[] = [];
  readonly #uids = new Set<number>();

  constructor(root: Sections, meta: Meta) {
    this.#root = root;
    this.#meta = meta;
    this.#state = new FleetState({ meta, rows: [] });
  }

  /** Owners before what they own, providers before the slices that they bound. */
  load(): LoadedLogical {
    this.#list('shards', (json, context) => this.#shard(json, context));
    this.#list('providers', (json, context) => this.#provider(json, context));
    this.#clusters();
    this.#list('domain_to_shard', (json, context) => this.#domain(json, context));
    this.#list('quotas', (json, context) => this.#quota(json, context));
    this.#list('provider_homes', (json, context) => this.#home(json, context));
    this.#list('transfers', (json, context) => this.#transfer(json, context));
    this.#list('overrides', (json, context) => this.#override(json, context));
    const rows = [...this.#rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    return { loaded: { meta: this.#meta, rows }, rejected: this.#rejected };
  }

  #list(section: string, load: (json: unknown, context: DecodeContext) => void): void {
    const rows: unknown = this.#root[section] ?? [];
    if (!Array.isArray(rows)) throw malformedSnapshot(`${section} is not a list`);
    rows.forEach((json: unknown, index) => this.#row(`${section}[${index}]`, json, load));
  }

  #row(at: string, json: unknown, load: (json: unknown, context: DecodeContext) => void): void {
    try {
      load(json, { at, unknownKeys: 'ignore' });
    } catch (error) {
      this.#rejected.push({ at, reason: describeThrown(error) });
    }
  }

  #clusters(): void {
    const at = 'cluster_to_shard';
    const bound = objectOf(this.#root[at] ?? {}, { ...AT_ROOT, at });
    const times = objectOf(this.#root['cluster_bound_at_ms'] ?? {}, AT_ROOT);
    for (const clusterId of Object.keys(bound)) {
      this.#row(`${at}.${clusterId}`, bound[clusterId], (json, context) => {
        const shard = text.decode(json, context);
        const time = Object.hasOwn(times, clusterId) ? times[clusterId] : 0;
        this.#require({ kind: 'BindCluster', cluster: clusterId, shard, force: false });
        const boundAtMs = count.decode(time, context);
        const shardUid = this.#uidOf(shard);
        this.#put('clusters', { clusterId, shardId: shard, shardUid, boundAtMs });
      });
    }
  }

  #shard(json: unknown, context: DecodeContext): void {
    const row = rowCodecs.shards.decode(json, context);
    if (row.uid < 1 || row.uid > this.#meta.applyIndex || this.#uids.has(row.uid))
      throw malformedSnapshot(`uid ${row.uid} is not of this state`);
    const { id, address, registeredAtMs } = row;
    this.#require({ kind: 'AddShard', id, address, registeredAtMs });
    this.#uids.add(row.uid);
    this.#put('shards', row);
  }

  #provider(json: unknown, context: DecodeContext): void {
    const entry = rowCodecs.providers.decode(json, context);
    const write = this.#require({ kind: 'UpsertProvider', entry });
    if (write.table === 'providers' && write.kind === 'put') this.#put('providers', write.row);
  }

  #domain(json: unknown, context: DecodeContext): void {
    const { domain, shard } = domainCodec.decode(json, context);
    const more = objectOf(json, context);
    const state = Object.hasOwn(more, 'state')
      ? domainState.decode(more['state'], context)
      : 'ASSIGNED';
    const revision = Object.hasOwn(more, 'revision')
      ? count.decode(more['revision'], context)
      : this.#meta.assignmentRevision;
    this.#require({ kind: 'AssignDomain', domain, shard });
    const shardUid = this.#uidOf(shard);
    this.#put('domains', { ...domain, shardId: shard, shardUid, state, revision });
  }

  #quota(json: unknown, context: DecodeContext): void {
    const { provider, region, slices } = rowCodecs.quotas.decode(json, context);
    const perShard = new Map(slices.map(({ shardId, slice }) => [shardId, slice]));
    if (perShard.size !== slices.length) throw malformedSnapshot('a shard has two slices');
    const write = this.#require({ kind: 'SetQuota', provider, region, perShard });
    if (write.table === 'quotas' && write.kind === 'put') this.#put('quotas', write.row);
  }

  #home(json: unknown, context: DecodeContext): void {
    const { providerAddress, shardId } = rowCodecs.homes.decode(json, context);
    this.#require({ kind: 'SetProviderHome', providerAddress, shard: shardId });
    this.#put('homes', { providerAddress, shardId, shardUid: this.#uidOf(shardId) });
  }

  #transfer(json: unknown, context: DecodeContext): void {
    const row: TransferRow = rowCodecs.transfers.decode(json, context);
    const problem = transferRowProblem(row, this.#meta.applyIndex);
    if (problem !== undefined) throw malformedSnapshot(problem);
    this.#put('transfers', row);
  }

  #override(json: unknown, context: DecodeContext): void {
    const { machineId, owner, transferId } = rowCodecs.overrides.decode(json, context);
    this.#require({ kind: 'RestoreOverride', machineId, owner, transferId });
    this.#put('overrides', { machineId, owner, ownerUid: this.#uidOf(owner), transferId });
  }

  /** What a live command would have written first; a refusal rejects the row. */
  #require(body: CommandBody): Write {
    const command = { ...body, commandId: '', issuedAtMs: 0 };
    const decision = decide(this.#state, command, this.#meta.applyIndex);
    if (decision.kind === 'refused') throw malformedSnapshot(decision.refusal.message);
    const write = decision.kind === 'change' ? decision.change.writes[0] : undefined;
    if (write === undefined) throw malformedSnapshot('the row says nothing new');
    return write;
  }

  #put<T extends Table>(table: T, row: TableRows[T]): void {
    const key = keyOfRow(table, row);
    if (this.#rows.has(key)) throw malformedSnapshot('the row appears twice');
    this.#rows.set(key, { table, key, value: encodeRow(table, row) });
    const write = { kind: 'put', table, key, row } as Write;
    this.#state.install({ writes: [write], reads: [], gc: [], ...KEEP_META }, '');
  }

  #uidOf(shard: string): number {
    return this.#state.shard(shard)?.uid ?? 0;
  }
}

/** The state is only a measure for the rules here; its meta is not what is loaded. */
const KEEP_META = { assignmentRevision: 0, ledgerGeneration: 0 };

/**
 * What every transfer row that live commands can write has in common. A finished transfer may name
 * shards that are gone, so it cannot be replayed as a command; its shape can still be judged.
 */
function transferRowProblem(row: TransferRow, applyIndex: number): string | undefined {
  if (row.from === row.to) return 'a transfer needs two different shards';
  if (row.toUid < 1 || row.toUid > applyIndex || row.fromUid > applyIndex)
    return 'a uid of the transfer is not of this state';
  return (
    nameProblem('transfer id', row.id) ??
    nameProblem('provider address', row.providerAddress) ??
    shardIdProblem(row.from) ??
    shardIdProblem(row.to) ??
    machinesProblem(row) ??
    quotaProblem(row)
  );
}

function machinesProblem({ tier, phase, machineIds }: TransferRow): string | undefined {
  const hasMoved = tier === 1 && (phase === 'COMMITTED' || phase === 'DONE');
  if (hasMoved) return machineIdsProblem(machineIds, MAX_TRANSFER_MACHINES);
  return machineIds.length === 0 ? undefined : 'a transfer that moved nothing names machines';
}

function quotaProblem({ tier, phase, quota }: TransferRow): string | undefined {
  if (tier === 1) return quota === null ? undefined : 'a transfer of machines moves quota';
  const hasMoved = phase === 'COMMITTED' || phase === 'DONE';
  if (hasMoved !== (quota?.step === 'GROWN')) return 'phase and quota of a transfer disagree';
  return phase === 'ABORTED' && quota?.step === 'SHRUNK' ? 'an aborted move owes quota' : undefined;
}
