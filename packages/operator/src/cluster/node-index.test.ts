// Proves that a machine is linked to its Node by the first mark that matches, whatever comes first, and
// that the index equals a scan over everything after any sequence of events.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { NodeLink } from '../session/cluster-port.ts';
import { machineIdLabel } from './names.ts';
import { type MachineHints, NodeIndex, type NodeRecord } from './node-index.ts';

function node(name: string, marks: Partial<NodeRecord> = {}): NodeRecord {
  return {
    name,
    uid: `uid-${name}`,
    machineLabel: '',
    providerId: '',
    isUnschedulable: false,
    isReady: true,
    reclaim: '',
    ...marks,
  };
}

function watched(): { readonly index: NodeIndex; readonly told: Map<string, NodeLink> } {
  const told = new Map<string, NodeLink>();
  const index = new NodeIndex({
    linked: (link) => told.set(link.machineId, link),
    unlinked: (machineId) => told.delete(machineId),
  });
  return { index, told };
}

const machine = (machineId: string, hints: Partial<MachineHints> = {}): MachineHints => ({
  machineId,
  providerId: '',
  nodeName: '',
  ...hints,
});

test('label, provider id, node name and machine id link, in this order', () => {
  const { index, told } = watched();
  index.machineKnown(machine('m/1', { providerId: 'p1', nodeName: 'n-name' }));
  index.nodeChanged(node('m/1'));
  assert.equal(told.get('m/1')?.nodeName, 'm/1');
  index.nodeChanged(node('n-name'));
  assert.equal(told.get('m/1')?.nodeName, 'n-name');
  index.nodeChanged(node('n-provider', { providerId: 'p1' }));
  assert.equal(told.get('m/1')?.nodeName, 'n-provider');
  index.nodeChanged(node('n-label', { machineLabel: machineIdLabel('m/1') }));
  assert.equal(told.get('m/1')?.nodeName, 'n-label');
  index.nodeGone(node('n-label', { machineLabel: machineIdLabel('m/1') }));
  assert.equal(told.get('m/1')?.nodeName, 'n-provider');
});

test('a Node that says it is another machine is not taken by its name', () => {
  const { index, told } = watched();
  index.machineKnown(machine('m1', { nodeName: 'n1' }));
  index.nodeChanged(node('n1', { machineLabel: 'm2' }));
  assert.equal(told.size, 0);
});

test('an instruction finds its node by machine id, by node name, and by a machine id in place of a name', () => {
  const { index } = watched();
  index.nodeChanged(node('n1', { machineLabel: 'm1' }));
  assert.equal(index.resolve({ node: 'm1', machineId: 'm1' })?.name, 'n1');
  assert.equal(index.resolve({ node: 'n1', machineId: '' })?.name, 'n1');
  assert.equal(index.resolve({ node: 'm1', machineId: '' })?.name, 'n1');
  assert.equal(index.resolve({ node: 'n9', machineId: 'm9' }), undefined);
});

const names = ['a', 'b', 'c'];
const anyName = fc.constantFrom(...names);
const anyMark = fc.constantFrom('', ...names);
const event = fc.oneof(
  fc.record({
    kind: fc.constant('node' as const),
    name: anyName,
    label: anyMark,
    provider: anyMark,
  }),
  fc.record({ kind: fc.constant('nodeGone' as const), name: anyName }),
  fc.record({
    kind: fc.constant('machine' as const),
    id: anyName,
    provider: anyMark,
    nodeName: anyMark,
  }),
  fc.record({ kind: fc.constant('machineGone' as const), id: anyName }),
);

test('links equal a scan over all nodes and machines, after every event', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), (events) => {
      const { index, told } = watched();
      const nodes = new Map<string, NodeRecord>();
      const machines = new Map<string, MachineHints>();
      for (const one of events) {
        if (one.kind === 'node') {
          // Two Nodes with one label or one provider id do not exist: the later registration replaced it.
          const isTaken = [...nodes.values()].some(
            ({ name, machineLabel, providerId }) =>
              name !== one.name &&
              ((one.label !== '' && machineLabel === one.label) ||
                (one.provider !== '' && providerId === one.provider)),
          );
          if (isTaken) continue;
          const record = node(one.name, { machineLabel: one.label, providerId: one.provider });
          nodes.set(one.name, record);
          index.nodeChanged(record);
        } else if (one.kind === 'nodeGone') {
          const record = nodes.get(one.name);
          if (record === undefined) continue;
          nodes.delete(one.name);
          index.nodeGone(record);
        } else if (one.kind === 'machine') {
          const hints = machine(one.id, { providerId: one.provider, nodeName: one.nodeName });
          machines.set(one.id, hints);
          index.machineKnown(hints);
        } else {
          machines.delete(one.id);
          index.machineGone(one.id);
        }
        const expected = [...machines.values()].flatMap((hints) => {
          const found = scan(nodes, hints);
          return found === undefined ? [] : [[hints.machineId, found.name]];
        });
        const actual = [...told.values()].map(({ machineId, nodeName }) => [machineId, nodeName]);
        assert.deepEqual(
          new Map(actual as [string, string][]),
          new Map(expected as [string, string][]),
        );
        assert.equal(index.linkCount, expected.length);
      }
    }),
    { numRuns: 2_000 },
  );
});

function scan(nodes: ReadonlyMap<string, NodeRecord>, hints: MachineHints): NodeRecord | undefined {
  const all = [...nodes.values()];
  const byLabel = all.find(({ machineLabel }) => machineLabel === hints.machineId);
  const byProvider = all.find(
    ({ providerId }) => providerId !== '' && providerId === hints.providerId,
  );
  const byName = (name: string): NodeRecord | undefined => {
    const found = nodes.get(name);
    const isOther = found?.machineLabel !== '' && found?.machineLabel !== hints.machineId;
    return isOther ? undefined : found;
  };
  return byLabel ?? byProvider ?? byName(hints.nodeName) ?? byName(hints.machineId);
}
