// UpcomingNodes: what is coming into the cluster, and what leaves it (kubernetes §4.2). The shard sends a
// machine's state and never again on its own, so a write is repeated until it stands or is overtaken by
// the next frame. Merge patches without a version: reads lag under load, and versions made one write in
// four fail. An object goes when its machine has left, because tens of thousands of dead ones slowed
// every other request of the API server.

import { BigFleetError, parseQuantity, type Runtime, sleep } from '@bigfleet/base';
import {
  ANNOTATIONS,
  type ApiAnswer,
  type ApiObject,
  type KubeClient,
  metaOf,
  refusalError,
  type Taint,
  UPCOMING_NODES,
  type UpcomingNodePhase,
  type UpcomingNodeSpec,
  type UpcomingNodeStatus,
} from '@bigfleet/kube';
import { durationSeconds } from '@bigfleet/telemetry';
import { MachineState, type NodeStateUpdate } from '@bigfleet/wire';
import type { NodeLink } from '../session/cluster-port.ts';
import { isUpcomingNodeName, upcomingNodeName } from './names.ts';

/** What the operator keeps of an UpcomingNode: as much as decides whether a write is needed. */
export interface UpcomingRecord {
  readonly name: string;
  readonly machineId: string;
  readonly specText: string;
  readonly phase: UpcomingNodePhase | '';
  readonly nodeName: string;
  readonly nodeUid: string;
  readonly providerId: string;
  readonly lastError: string;
  readonly hasStart: boolean;
}

export function readUpcoming(object: ApiObject): UpcomingRecord | undefined {
  const meta = metaOf(object);
  if (meta === undefined || !isUpcomingNodeName(meta.name)) return undefined;
  const { annotations } = object['metadata'] as { annotations?: Record<string, string> };
  const status = object['status'] as UpcomingNodeStatus | undefined;
  return {
    name: meta.name,
    machineId: annotations?.[ANNOTATIONS.machineId] ?? meta.name.slice('un-'.length),
    specText: specText((object['spec'] ?? { resources: {} }) as UpcomingNodeSpec),
    phase: status?.phase ?? '',
    nodeName: status?.nodeRef?.name ?? '',
    nodeUid: status?.nodeRef?.uid ?? '',
    providerId: status?.providerID ?? '',
    lastError: status?.lastError ?? '',
    hasStart: status?.provisioningStartTime !== undefined,
  };
}

export type UpcomingWrite = 'create' | 'spec_update' | 'status_update' | 'delete';
export type WriteOutcome = 'success' | 'conflict' | 'error' | 'noop';

/** Opens `lastError` of a drain that did not end: the machine is leaving all the same. */
export const DRAIN_ERROR = 'drain: ';

export interface UpcomingNodesOptions {
  readonly runtime: Runtime;
  readonly client: KubeClient;
  /** From the watch. */
  readonly known: (name: string) => UpcomingRecord | undefined;
  readonly linkOf: (machineId: string) => NodeLink | undefined;
  readonly onWrite: (
    op: UpcomingWrite,
    outcome: WriteOutcome,
    /** Undefined: no write was needed. */
    seconds: number | undefined,
  ) => void;
}

const ATTEMPTS = 5;
const RETRY_MS = 50;

export class UpcomingNodes {
  readonly #options: UpcomingNodesOptions;
  /** Written and not yet seen in the watch. */
  readonly #written = new Map<string, UpcomingRecord | undefined>();

  constructor(options: UpcomingNodesOptions) {
    this.#options = options;
  }

  /** The watch shows the object: what was written before is history. */
  seen(name: string): void {
    this.#written.delete(name);
  }

  record(machineId: string): UpcomingRecord | undefined {
    const name = upcomingNodeName(machineId);
    return this.#written.has(name) ? this.#written.get(name) : this.#options.known(name);
  }

  /** The machine leaves with this frame, and its object goes. */
  isTerminus({ machineId, state }: NodeStateUpdate): boolean {
    const before = this.record(machineId);
    return before !== undefined && phaseOf(state, before) === 'gone';
  }

  /** What the frame became. */
  async apply(update: NodeStateUpdate, signal: AbortSignal): Promise<UpcomingNodePhase> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#applyOnce(update, signal);
      } catch (error) {
        const isConflict = error instanceof BigFleetError && error.fields['status'] === 409;
        if (!isConflict || attempt >= ATTEMPTS) throw error;
        await sleep(this.#options.runtime, RETRY_MS * 2 ** attempt, signal);
      }
    }
  }

  async #applyOnce(update: NodeStateUpdate, signal: AbortSignal): Promise<UpcomingNodePhase> {
    const before = this.record(update.machineId);
    const next = phaseOf(update.state, before);
    if (next === 'gone') {
      if (before !== undefined) await this.delete(before, signal);
      return 'Drained';
    }
    const record = before ?? (await this.#create(update, signal));
    const fresh = await this.#writeSpec(record, update, signal);
    await this.#writeStatus(fresh, { phase: next, update, signal });
    return next;
  }

  /** A phase that the operator itself knows, while a node drains. */
  async setPhase(
    machineId: string,
    status: { readonly phase: UpcomingNodePhase; readonly lastError?: string },
    signal: AbortSignal,
  ): Promise<void> {
    const record = this.record(machineId);
    if (record === undefined) return;
    await this.#writeStatus(record, { phase: status.phase, lastError: status.lastError, signal });
  }

  /** The reference alone: a frame of the machine may be writing its phase at this moment. */
  async linked({ machineId, nodeName, nodeUid }: NodeLink, signal: AbortSignal): Promise<void> {
    const record = this.record(machineId);
    const isKnown = record?.nodeName === nodeName && record.nodeUid === nodeUid;
    if (record === undefined || record.phase === '' || isKnown) return;
    const patch = { status: { nodeRef: { kind: 'Node', name: nodeName, uid: nodeUid } } };
    await this.#patch(record, { op: 'status_update', patch, signal, subresource: 'status' });
  }

  async delete(record: UpcomingRecord, signal: AbortSignal): Promise<void> {
    const target = { namespace: '', name: record.name };
    const answer = await this.#timed('delete', () =>
      this.#options.client.delete(UPCOMING_NODES, target, { lane: 'node', signal }),
    );
    const isGone = answer.kind === 'refused' && answer.status === 404;
    if (answer.kind === 'ok' || isGone) this.#written.set(record.name, undefined);
    else throw refusalError(answer);
  }

  // ── writes ──────────────────────────────────────────────────────────────────────────────

  async #create(update: NodeStateUpdate, signal: AbortSignal): Promise<UpcomingRecord> {
    const { client } = this.#options;
    const name = upcomingNodeName(update.machineId);
    const body = {
      apiVersion: 'bigfleet.lucy.sh/v1alpha1',
      kind: 'UpcomingNode',
      metadata: { name, annotations: { [ANNOTATIONS.machineId]: update.machineId } },
      spec: specOf(update),
    };
    const answer = await this.#timed('create', () =>
      client.create(UPCOMING_NODES, body, { lane: 'node', signal }),
    );
    if (answer.kind === 'ok') return this.#remember(answer.object);
    if (answer.reason !== 'AlreadyExists') throw refusalError(answer);
    const existing = await client.get(UPCOMING_NODES, { namespace: '', name }, signal);
    if (existing.kind === 'refused') throw refusalError(existing);
    return this.#remember(existing.object);
  }

  /** The shape may be empty before a host is bound; an empty one says nothing. */
  async #writeSpec(
    record: UpcomingRecord,
    update: NodeStateUpdate,
    signal: AbortSignal,
  ): Promise<UpcomingRecord> {
    const spec = specOf(update);
    const isEmpty =
      Object.keys(spec.resources).length === 0 && Object.keys(spec.labels ?? {}).length === 0;
    if (isEmpty || specText(spec) === record.specText) return record;
    // Null removes what the shape no longer has: a merge alone would keep it for ever.
    const before = JSON.parse(record.specText) as SpecForm;
    const patch = {
      spec: {
        labels: { ...nulls(before.labels), ...spec.labels },
        resources: { ...nulls(before.resources), ...spec.resources },
        taints: spec.taints,
      },
    };
    return this.#patch(record, { op: 'spec_update', patch, signal });
  }

  async #writeStatus(
    record: UpcomingRecord,
    change: {
      readonly phase: UpcomingNodePhase;
      readonly update?: NodeStateUpdate;
      readonly lastError?: string | undefined;
      readonly signal: AbortSignal;
    },
  ): Promise<void> {
    const { phase, update } = change;
    const link = this.#options.linkOf(record.machineId);
    const lastError = change.lastError ?? update?.lastError ?? '';
    const status = {
      phase,
      nodeName: link?.nodeName ?? record.nodeName,
      nodeUid: link?.nodeUid ?? record.nodeUid,
      providerId: update?.providerId || record.providerId,
      lastError:
        lastError || (record.phase === 'Failed' && phase !== 'Failed' ? '' : record.lastError),
    };
    const isSame =
      record.hasStart &&
      record.phase === status.phase &&
      record.nodeName === status.nodeName &&
      record.nodeUid === status.nodeUid &&
      record.providerId === status.providerId &&
      record.lastError === status.lastError;
    if (isSame) {
      this.#options.onWrite('status_update', 'noop', undefined);
      return;
    }
    const nodeRef = { kind: 'Node', name: status.nodeName, uid: status.nodeUid || undefined };
    const patch = {
      status: {
        phase,
        nodeRef: status.nodeName === '' ? undefined : nodeRef,
        providerID: status.providerId || undefined,
        lastError: status.lastError === '' ? null : status.lastError,
        provisioningStartTime: record.hasStart ? undefined : this.#now(),
      },
    };
    const { signal } = change;
    await this.#patch(record, { op: 'status_update', patch, signal, subresource: 'status' });
    // A Node that was linked during the patch found an object without a phase and left its name to it.
    const linked = this.#options.linkOf(record.machineId);
    if (linked !== undefined) await this.linked(linked, signal);
  }

  async #patch(
    record: UpcomingRecord,
    write: {
      readonly op: 'spec_update' | 'status_update';
      readonly patch: ApiObject;
      readonly signal: AbortSignal;
      readonly subresource?: string;
    },
  ): Promise<UpcomingRecord> {
    const { op, ...options } = write;
    const target = { namespace: '', name: record.name };
    const answer = await this.#timed(op, () =>
      this.#options.client.mergePatch(UPCOMING_NODES, target, { lane: 'node', ...options }),
    );
    if (answer.kind === 'ok') return this.#remember(answer.object);
    // Deleted behind our back: the next attempt creates it.
    if (answer.status === 404) this.#written.set(record.name, undefined);
    throw refusalError(answer.status === 404 ? { ...answer, status: 409 } : answer);
  }

  #remember(object: ApiObject): UpcomingRecord {
    const record = readUpcoming(object);
    if (record === undefined) throw new BigFleetError('kube_answer_malformed', 'no UpcomingNode');
    this.#written.set(record.name, record);
    return record;
  }

  /** The wait for the write's turn is part of its time: back-pressure is what the time is read for. */
  async #timed(op: UpcomingWrite, write: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
    const { runtime, onWrite } = this.#options;
    const startMs = runtime.clock.monotonicMs();
    const seconds = (): number => durationSeconds(startMs, runtime.clock.monotonicMs());
    try {
      const answer = await write();
      onWrite(op, outcomeOf(op, answer), seconds());
      return answer;
    } catch (error) {
      onWrite(op, 'error', seconds());
      throw error;
    }
  }

  #now(): string {
    const ms = Number(this.#options.runtime.clock.unixNanos() / 1_000_000n);
    return new Date(ms).toISOString().replace(/\.\d+/, '');
  }
}

/** What was to be deleted and is not there is as good as deleted. */
function outcomeOf(op: UpcomingWrite, answer: ApiAnswer): WriteOutcome {
  if (answer.kind === 'ok' || (op === 'delete' && answer.status === 404)) return 'success';
  return answer.status === 409 ? 'conflict' : 'error';
}

/** `gone`: the machine has left this cluster, or never came. */
export function phaseOf(
  state: MachineState,
  before: Pick<UpcomingRecord, 'phase'> | undefined,
): UpcomingNodePhase | 'gone' {
  switch (state) {
    case MachineState.IDLE:
      return before === undefined || hasCome(before) ? 'gone' : 'Launched';
    case MachineState.DELETING:
      return 'gone';
    case MachineState.SPECULATIVE:
      // A slot whose machine failed or was lost has no host any more: nothing is on its way for it.
      return before === undefined || isBeforeHost(before) ? 'Provisioning' : 'gone';
    case MachineState.CONFIGURING:
      return 'Registered';
    case MachineState.CONFIGURED:
      return 'Ready';
    case MachineState.DRAINING:
      // The eviction was quicker than the frame, or the frame is a replay.
      return before?.phase === 'Drained' ? 'Drained' : 'Draining';
    case MachineState.FAILED:
      return 'Failed';
    default:
      return 'Provisioning';
  }
}

function isBeforeHost({ phase }: Pick<UpcomingRecord, 'phase'>): boolean {
  return phase === '' || phase === 'Provisioning';
}

/**
 * It was bound to this cluster, and idle it is not any more: drained, its drain failed at the deadline, its blob
 * refused or late, moved by its provider. No frame about it comes again, so that its object would stay for ever.
 */
function hasCome(record: Pick<UpcomingRecord, 'phase'>): boolean {
  return !isBeforeHost(record) && record.phase !== 'Launched';
}

function specOf(update: NodeStateUpdate): UpcomingNodeSpec {
  return {
    labels: { ...update.labels },
    resources: { ...update.resources?.resources },
    taints: update.taints.map(({ key, value, effect }): Taint => ({ key, value, effect })),
  };
}

interface SpecForm {
  readonly labels: Readonly<Record<string, string>>;
  readonly resources: Readonly<Record<string, string>>;
}

/** Equal texts are equal shapes: quantities by value, maps in any order, taints in theirs. */
function specText(spec: UpcomingNodeSpec): string {
  const sorted = <T>(map: Readonly<Record<string, T>> | undefined): [string, T][] =>
    Object.entries(map ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const resources = sorted(spec.resources).map(([name, raw]): [string, string] => {
    const parsed = parseQuantity(String(raw));
    return [name, parsed.ok ? String(parsed.value.nanos) : String(raw)];
  });
  return JSON.stringify({
    labels: Object.fromEntries(sorted(spec.labels)),
    resources: Object.fromEntries(resources),
    taints: (spec.taints ?? []).map(({ key, value = '', effect }) => [key, value, effect]),
  });
}

function nulls(map: Readonly<Record<string, unknown>>): Record<string, null> {
  return Object.fromEntries(Object.keys(map).map((key) => [key, null]));
}
