// Node ↔ machine links as `node_identity` frames (wire-additions §2): the complete set once after the
// hello ack, then what changed, newest per machine. A set too large for one frame begins with the
// frame that replaces everything and goes on as changes. Nothing is sent before the shard has named
// the extension.
//
// Every frame also carries the phantom machines of its moment, whole; when only their set changed, a frame
// without links goes.
//
// A shard that has just started knows no machine yet and drops the entries of the complete set. Its later
// state frames of those machines come without our name: their links are told again.

import { assert } from '@bigfleet/base';
import {
  encodeInit,
  MachineState,
  type NodeStateUpdate,
  OperatorMessageSchema,
} from '@bigfleet/wire';
import type { ClusterPort, NodeLink } from './cluster-port.ts';

/** Per frame. */
const MAX_IDENTITIES = 2_000;
const MAX_PHANTOMS = 2_000;

interface Identity extends NodeLink {
  readonly removed: boolean;
}

type Named = Pick<NodeStateUpdate, 'machineId' | 'nodeName' | 'state'>;
type Links = Pick<ClusterPort, 'nodeLinks' | 'nodeLinkOf' | 'phantomMachineIds'>;

const BOUND: ReadonlySet<MachineState> = new Set([
  MachineState.CONFIGURING,
  MachineState.CONFIGURED,
  MachineState.DRAINING,
]);

export class IdentityReports {
  readonly #cluster: Links;
  readonly #pending = new Map<string, Identity>();
  /** As the shard was last told. */
  #toldPhantoms: readonly string[] = [];
  #arePhantomsDue = false;
  #state: 'off' | 'complete_due' | 'changes' = 'off';

  constructor(cluster: Links) {
    this.#cluster = cluster;
  }

  /** The shard knows the extension. */
  start(): void {
    assert(this.#state === 'off', 'identities start once per session');
    this.#state = 'complete_due';
  }

  linked(link: NodeLink): void {
    this.#note({ ...link, removed: false });
  }

  unlinked(machineId: string): void {
    this.#note({ machineId, nodeName: '', providerId: '', nodeUid: '', removed: true });
  }

  /** The shard calls the node of this machine so, or has no name for it. */
  shardNamed({ machineId, nodeName, state }: Named): void {
    if (!BOUND.has(state)) return;
    const link = this.#cluster.nodeLinkOf(machineId);
    if (link !== undefined && link.nodeName !== nodeName) this.linked(link);
  }

  phantomsChanged(): void {
    this.#arePhantomsDue = true;
  }

  /** The next frame, or undefined when nothing is due. */
  take(): Uint8Array | undefined {
    if (this.#state === 'off') return undefined;
    const isComplete = this.#state === 'complete_due';
    if (isComplete) {
      this.#state = 'changes';
      for (const link of this.#cluster.nodeLinks()) this.#note({ ...link, removed: false });
    }
    const isDue = isComplete || this.#pending.size > 0 || this.#arePhantomsDue;
    if (!isDue) return undefined;
    const phantoms = this.#cluster.phantomMachineIds().slice(0, MAX_PHANTOMS);
    this.#arePhantomsDue = false;
    // A set that is again what it was, or that changed beyond what fits, is no news.
    const isNews = isComplete || this.#pending.size > 0 || !isSame(phantoms, this.#toldPhantoms);
    if (!isNews) return undefined;
    this.#toldPhantoms = phantoms;
    const value = {
      nodes: this.#takeNodes(),
      complete: isComplete,
      phantomMachineIds: phantoms,
    };
    return encodeInit(OperatorMessageSchema, { payload: { case: 'nodeIdentity', value } });
  }

  /** Before the complete set is read, it will contain the change; without the extension, nobody asks. */
  #note(identity: Identity): void {
    if (this.#state === 'changes') this.#pending.set(identity.machineId, identity);
  }

  #takeNodes(): Identity[] {
    const nodes: Identity[] = [];
    for (const [machineId, identity] of this.#pending) {
      if (nodes.length === MAX_IDENTITIES) break;
      nodes.push(identity);
      this.#pending.delete(machineId);
    }
    return nodes;
  }
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, at) => id === b[at]);
}
