// Node ↔ machine links as `node_identity` frames (wire-additions §2): the complete set once after the
// hello ack, then what changed, newest per machine. A set too large for one frame begins with the
// frame that replaces everything and goes on as changes. Nothing is sent before the shard has named
// the extension.

import { assert } from '@bigfleet/base';
import { encodeInit, OperatorMessageSchema } from '@bigfleet/wire';
import type { NodeLink } from './cluster-port.ts';

/** Per frame. */
const MAX_IDENTITIES = 2_000;

interface Identity extends NodeLink {
  readonly removed: boolean;
}

export class IdentityReports {
  readonly #links: () => Iterable<NodeLink>;
  readonly #pending = new Map<string, Identity>();
  #state: 'off' | 'complete_due' | 'changes' = 'off';

  constructor(links: () => Iterable<NodeLink>) {
    this.#links = links;
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

  /** The next frame, or undefined when nothing is due. */
  take(): Uint8Array | undefined {
    if (this.#state === 'off') return undefined;
    const isComplete = this.#state === 'complete_due';
    if (isComplete) {
      this.#state = 'changes';
      for (const link of this.#links()) this.#note({ ...link, removed: false });
    }
    if (!isComplete && this.#pending.size === 0) return undefined;
    const nodes = this.#takeNodes();
    return encodeInit(OperatorMessageSchema, {
      payload: { case: 'nodeIdentity', value: { nodes, complete: isComplete } },
    });
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
