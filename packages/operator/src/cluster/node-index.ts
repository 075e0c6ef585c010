// Which Node is which machine, both ways and without a scan (kubernetes §4.2, decision 9). A shard that
// cordons by the machine's id where the Node has another name cordons nothing and reports success, so
// the link is looked for by label, provider id, the frame's node name and the machine id, in this order.

import { ANNOTATIONS, type ApiObject, LABELS, type Node } from '@bigfleet/kube';
import type { NodeLink } from '../session/cluster-port.ts';
import { machineIdLabel } from './names.ts';

/** What the operator keeps of a Node. */
export interface NodeRecord {
  readonly name: string;
  readonly uid: string;
  readonly machineLabel: string;
  readonly providerId: string;
  readonly isUnschedulable: boolean;
  readonly isReady: boolean;
  /** The reclaim annotation as it stands; empty without one. */
  readonly reclaim: string;
}

export function readNode(object: ApiObject): NodeRecord {
  const { metadata, spec, status } = object as unknown as Node;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    name: metadata.name,
    uid: metadata.uid,
    machineLabel: metadata.labels?.[LABELS.machineId] ?? '',
    providerId: spec?.providerID ?? '',
    isUnschedulable: spec?.unschedulable === true,
    isReady: ready?.status === 'True',
    reclaim: metadata.annotations?.[ANNOTATIONS.reclaim] ?? '',
  };
}

/** What is known of a machine from its frames. */
export interface MachineHints {
  readonly machineId: string;
  readonly providerId: string;
  readonly nodeName: string;
}

export interface LinkObserver {
  linked(link: NodeLink): void;
  unlinked(machineId: string): void;
}

export class NodeIndex {
  readonly #observer: LinkObserver;
  readonly #nodes = new Map<string, NodeRecord>();
  readonly #byLabel = new Map<string, string>();
  readonly #byProviderId = new Map<string, string>();
  readonly #machines = new Map<string, MachineHints>();
  /** Machines by what a Node could carry of them, so that a new Node finds its machine at once. */
  readonly #machinesBy = new Map<string, Set<string>>();
  readonly #links = new Map<string, NodeLink>();
  readonly #linkedNodes = new Map<string, string>();

  constructor(observer: LinkObserver) {
    this.#observer = observer;
  }

  get linkCount(): number {
    return this.#links.size;
  }

  links(): Iterable<NodeLink> {
    return this.#links.values();
  }

  linkOf(machineId: string): NodeLink | undefined {
    return this.#links.get(machineId);
  }

  machineOf(nodeName: string): string | undefined {
    return this.#linkedNodes.get(nodeName);
  }

  node(name: string): NodeRecord | undefined {
    return this.#nodes.get(name);
  }

  nodes(): Iterable<NodeRecord> {
    return this.#nodes.values();
  }

  nodeChanged(node: NodeRecord): void {
    const before = this.#nodes.get(node.name);
    this.#forgetKeys(before);
    this.#nodes.set(node.name, node);
    if (node.machineLabel !== '') this.#byLabel.set(node.machineLabel, node.name);
    if (node.providerId !== '') this.#byProviderId.set(node.providerId, node.name);
    this.#relinkAround(node, before);
  }

  nodeGone(node: NodeRecord): void {
    this.#forgetKeys(node);
    this.#nodes.delete(node.name);
    this.#relinkAround(node, node);
  }

  machineKnown(hints: MachineHints): void {
    this.#forgetMachineKeys(hints.machineId);
    this.#machines.set(hints.machineId, hints);
    for (const key of machineKeys(hints)) {
      const machines = this.#machinesBy.get(key) ?? new Set();
      machines.add(hints.machineId);
      this.#machinesBy.set(key, machines);
    }
    this.#relink(hints.machineId);
  }

  machineGone(machineId: string): void {
    this.#forgetMachineKeys(machineId);
    this.#machines.delete(machineId);
    this.#relink(machineId);
  }

  /** The node that an instruction means: by its machine when the shard named one, else by name. */
  resolve(target: { readonly node: string; readonly machineId: string }): NodeRecord | undefined {
    const { node, machineId } = target;
    if (machineId !== '') {
      const found = this.#find({
        machineId,
        providerId: '',
        nodeName: node,
        ...this.#machines.get(machineId),
      });
      if (found !== undefined) return found;
    }
    return this.#nodes.get(node) ?? this.#find({ machineId: node, providerId: '', nodeName: '' });
  }

  #relinkAround(node: NodeRecord, before: NodeRecord | undefined): void {
    const affected = new Set<string>();
    for (const record of before === undefined ? [node] : [node, before]) {
      for (const key of nodeKeys(record)) {
        for (const machineId of this.#machinesBy.get(key) ?? []) affected.add(machineId);
      }
    }
    const linked = this.#linkedNodes.get(node.name);
    if (linked !== undefined) affected.add(linked);
    for (const machineId of affected) this.#relink(machineId);
  }

  #relink(machineId: string): void {
    const hints = this.#machines.get(machineId);
    const node = hints === undefined ? undefined : this.#find(hints);
    const before = this.#links.get(machineId);
    if (node === undefined) {
      if (before === undefined) return;
      this.#links.delete(machineId);
      if (this.#linkedNodes.get(before.nodeName) === machineId) {
        this.#linkedNodes.delete(before.nodeName);
      }
      this.#observer.unlinked(machineId);
      return;
    }
    const link = { machineId, nodeName: node.name, providerId: node.providerId, nodeUid: node.uid };
    const isSame =
      before?.nodeName === link.nodeName &&
      before.nodeUid === link.nodeUid &&
      before.providerId === link.providerId;
    if (isSame) return;
    if (before !== undefined && before.nodeName !== link.nodeName) {
      this.#linkedNodes.delete(before.nodeName);
    }
    this.#links.set(machineId, link);
    this.#linkedNodes.set(link.nodeName, machineId);
    this.#observer.linked(link);
  }

  #find({ machineId, providerId, nodeName }: MachineHints): NodeRecord | undefined {
    const name =
      this.#byLabel.get(machineIdLabel(machineId)) ??
      (providerId === '' ? undefined : this.#byProviderId.get(providerId));
    const byName = name === undefined ? undefined : this.#nodes.get(name);
    return (
      byName ?? this.#unlabelled(nodeName, machineId) ?? this.#unlabelled(machineId, machineId)
    );
  }

  /** By name alone, unless the Node says that it is another machine. */
  #unlabelled(name: string, machineId: string): NodeRecord | undefined {
    const node = name === '' ? undefined : this.#nodes.get(name);
    const isOther =
      node !== undefined &&
      node.machineLabel !== '' &&
      node.machineLabel !== machineIdLabel(machineId);
    return isOther ? undefined : node;
  }

  #forgetKeys(node: NodeRecord | undefined): void {
    if (node === undefined) return;
    if (this.#byLabel.get(node.machineLabel) === node.name) this.#byLabel.delete(node.machineLabel);
    if (this.#byProviderId.get(node.providerId) === node.name) {
      this.#byProviderId.delete(node.providerId);
    }
  }

  #forgetMachineKeys(machineId: string): void {
    const hints = this.#machines.get(machineId);
    for (const key of hints === undefined ? [] : machineKeys(hints)) {
      const machines = this.#machinesBy.get(key);
      machines?.delete(machineId);
      if (machines?.size === 0) this.#machinesBy.delete(key);
    }
  }
}

function nodeKeys({ name, machineLabel, providerId }: NodeRecord): readonly string[] {
  return [`label ${machineLabel}`, `provider ${providerId}`, `name ${name}`];
}

function machineKeys({ machineId, providerId, nodeName }: MachineHints): readonly string[] {
  const keys = [`label ${machineIdLabel(machineId)}`, `name ${machineId}`];
  if (providerId !== '') keys.push(`provider ${providerId}`);
  if (nodeName !== '' && nodeName !== machineId) keys.push(`name ${nodeName}`);
  return keys;
}
