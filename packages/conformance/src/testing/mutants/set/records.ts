// Wrong states on the way and at rest, and records out of shape.

import type { Runtime } from '@bigfleet/base';
import {
  onGets,
  onLists,
  onRecords,
  refused,
  shownAs,
} from '../../../harness/testing/tamperings.ts';
import type { MachineView } from '../../../harness/machine.ts';
import type { Tampering } from '../../../harness/testing/tamper.ts';
import { ids, type Mutant } from '../mutant.ts';
import { inFront } from '../testing/front.ts';

const BLIP_EVERY_MS = 200;
const BLIP_MS = 25;
const LAG_MS = 100;
const REAPED_AFTER_MS = 400;

export const recordMutants: readonly Mutant[] = [
  {
    name: 'configuring-shows-creating',
    wrong: 'Configure shows CREATING on the way.',
    story: 'One state for "busy" inside, mapped to the first busy state of the contract.',
    caughtBy: ids('B103 B105 B408 B708 B1006'),
    isSeenByBaseline: false,
    make: () => inFront(() => shownAs('CONFIGURING', 'CREATING')),
  },
  {
    name: 'draining-shows-configuring',
    wrong: 'Drain shows CONFIGURING on the way.',
    story: 'The drain runs through the job queue of Configure and inherits its state.',
    caughtBy: ids('B104 B105'),
    isSeenByBaseline: false,
    make: () => inFront(() => shownAs('DRAINING', 'CONFIGURING')),
  },
  {
    name: 'deleting-is-unspecified',
    wrong: 'Delete shows the unspecified state on the way.',
    story: 'The table from the states of the cloud to those of the contract lacks one.',
    caughtBy: ids('B109'),
    isSeenByBaseline: true,
    make: () => inFront(() => shownAs('DELETING', 'UNSPECIFIED')),
  },
  {
    name: 'deleting-shows-draining',
    wrong: 'Delete shows DRAINING on the way.',
    story: 'The teardown drains first, as a precaution, and says so.',
    caughtBy: ids('B109'),
    isSeenByBaseline: false,
    make: () => inFront(() => shownAs('DELETING', 'DRAINING')),
  },
  {
    name: 'idle-before-the-host',
    wrong: 'A machine is IDLE as soon as Create is accepted.',
    story: 'The cloud answered the launch request; the host comes later, or never.',
    caughtBy: ids(`
      B101 B103 B104 B105 B106 B107 B108 B109 B201 B204 B206 B209 B210 B212 B213 B214
      B305 B306 B307 B309 B310 B401 B402 B403 B404 B406 B408 B409 B501 B502 B503 B504
      B505 B701 B703 B704 B705 B706 B707 B708 B803 B805 B806 B807 B901 B905 B1001 B1002
      B1003 B1004 B1005 B1006 B1007 B1104 B1105 B1202 B1203 B1205
    `),
    isSeenByBaseline: true,
    make: () => inFront(() => shownAs('CREATING', 'IDLE')),
  },
  {
    name: 'idle-before-drained',
    wrong: 'A machine is IDLE as soon as Drain is accepted, with its binding still on it.',
    story: 'Drain is sent to the node and not awaited.',
    caughtBy: ids('B101 B106 B214 B309 B403 B404 B502 B803 B805 B807 B1104 B1202 B1203 B1205'),
    isSeenByBaseline: true,
    make: () => inFront(() => shownAs('DRAINING', 'IDLE')),
  },
  {
    name: 'rest-is-restless',
    wrong: 'A CONFIGURED machine reads DRAINING for a moment, five times a second.',
    story: 'The state is computed from the health of the node, blips included.',
    caughtBy: ids('B108 B201 B204 B205 B210 B1203'),
    isSeenByBaseline: false,
    make: () =>
      inFront(({ clock }) =>
        onGets((machine) =>
          machine.state === 'CONFIGURED' && clock.monotonicMs() % BLIP_EVERY_MS < BLIP_MS
            ? { ...machine, state: 'DRAINING' }
            : machine,
        ),
      ),
  },
  {
    name: 'get-lags-behind',
    wrong: 'Get answers with what was true up to a tenth of a second ago.',
    story: 'Reads go to a replica.',
    caughtBy: ids('B105 B404 B708'),
    isSeenByBaseline: false,
    make: () => inFront(lagging),
  },
  {
    name: 'idle-is-reaped',
    wrong: 'A machine that nobody uses for 400 ms fails by itself.',
    story: 'A reaper of idle hosts decides what only a shard may decide.',
    caughtBy: ids('B108 B1109'),
    isSeenByBaseline: true,
    make: () => inFront(reaping),
  },
  {
    name: 'error-outlives-its-cause',
    wrong: 'An IDLE machine carries the last_error of long ago.',
    story: 'The field is set on failure and never cleared.',
    caughtBy: ids('B101 B1104'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onRecords((machine) =>
          machine.state === 'IDLE' ? { ...machine, lastError: 'of long ago' } : machine,
        ),
      ),
  },
  {
    name: 'slot-keeps-its-host',
    wrong: 'After Delete the slot still names the host that it had.',
    story: 'The row is reset column by column, and one is forgotten.',
    caughtBy: ids('B109 B807'),
    isSeenByBaseline: false,
    make: () => inFront(keepingHosts),
  },
  {
    name: 'deleted-slot-vanishes',
    wrong: 'After Delete the machine is gone from Get and List.',
    story: 'Delete deletes the row; but an incremental List cannot say "gone".',
    caughtBy: ids('B109 B310 B409 B807 B1105 B1203'),
    isSeenByBaseline: true,
    make: () => inFront(vanishing),
  },
  {
    name: 'bound-without-host',
    wrong: 'A CONFIGURED machine has no host.',
    story: 'Once the node has joined, the cluster is asked for it, and the record is not.',
    caughtBy: ids('B107 B803 B805'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onRecords((machine) =>
          machine.state === 'CONFIGURED' ? { ...machine, host: undefined } : machine,
        ),
      ),
  },
  {
    name: 'host-label-changes',
    wrong: 'The provider label of a host depends on the state of its machine.',
    story: 'Idle and busy hosts are kept in two pools, and the label is that of the pool.',
    caughtBy: ids('B805'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onRecords((machine) => ({
          ...machine,
          host: machine.host && { ...machine.host, provider: `pool-${machine.state}` },
        })),
      ),
  },
  {
    name: 'price-is-nan',
    wrong: 'Prices are not numbers.',
    story: 'The price list has no entry for the region, and the text "n/a" is parsed.',
    caughtBy: ids('B802 B1101'),
    isSeenByBaseline: true,
    make: () => inFront(() => onRecords((machine) => ({ ...machine, pricePerHour: Number.NaN }))),
  },
  {
    name: 'spot-never-dies',
    wrong: 'A spot machine has an interruption probability of 0.',
    story: 'Without a forecast the field is left at its default.',
    caughtBy: ids('B802 B1101'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onRecords((machine) =>
          machine.capacityType === 'SPOT' ? { ...machine, interruptionProbability: 0 } : machine,
        ),
      ),
  },
  {
    name: 'zone-is-a-label',
    wrong: 'The zone stands in the labels and the field is empty.',
    story: 'Everything that the substrate says becomes a label.',
    caughtBy: ids('B801 B806 B1101'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onRecords((machine) => ({
          ...machine,
          zone: '',
          labels: new Map([...machine.labels, ['zone', machine.zone]]),
        })),
      ),
  },
  {
    name: 'quantity-is-prose',
    wrong: 'An allocatable quantity does not parse.',
    story: 'The text of the catalogue page is passed on, unit and all.',
    caughtBy: ids('B804'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() =>
        onRecords((machine) => ({ ...machine, allocatable: new Map([['cpu', '3.9 cores']]) })),
      ),
  },
];

function lagging({ clock }: Runtime): Tampering {
  const replica = new Map<string, { readonly machine: MachineView; readonly atMs: number }>();
  return (real) => ({
    get: async (machineId) => {
      const nowMs = clock.monotonicMs();
      const kept = replica.get(machineId);
      if (kept !== undefined && nowMs - kept.atMs < LAG_MS)
        return { ok: true, value: kept.machine };
      const answer = await real.get(machineId);
      if (answer.ok) replica.set(machineId, { machine: answer.value, atMs: nowMs });
      return answer;
    },
  });
}

function reaping({ clock }: Runtime): Tampering {
  const idleSinceMs = new Map<string, number>();
  return onRecords((machine) => {
    if (machine.state !== 'IDLE') {
      idleSinceMs.delete(machine.id);
      return machine;
    }
    const sinceMs = idleSinceMs.get(machine.id) ?? clock.monotonicMs();
    idleSinceMs.set(machine.id, sinceMs);
    const isReaped = clock.monotonicMs() - sinceMs > REAPED_AFTER_MS;
    return isReaped ? { ...machine, state: 'FAILED', lastError: 'reaped' } : machine;
  });
}

function keepingHosts(): Tampering {
  const hosts = new Map<string, { readonly provider: string; readonly ref: string }>();
  return onRecords((machine) => {
    if (machine.host !== undefined) hosts.set(machine.id, machine.host);
    const host = hosts.get(machine.id);
    return machine.state === 'SPECULATIVE' && host !== undefined ? { ...machine, host } : machine;
  });
}

function vanishing(): Tampering {
  const deleted = new Set<string>();
  const isGone = ({ id, state }: { readonly id: string; readonly state: string }): boolean =>
    state === 'SPECULATIVE' && deleted.has(id);
  return (real) => ({
    ...onLists((inventory) => ({
      ...inventory,
      machines: inventory.machines.filter((machine) => !isGone(machine)),
    }))(real),
    get: async (machineId) => {
      const answer = await real.get(machineId);
      return answer.ok && isGone(answer.value) ? refused('NOT_FOUND') : answer;
    },
    delete: async (call) => {
      const answer = await real.delete(call);
      if (answer.ok) deleted.add(call.machineId);
      return answer;
    },
  });
}
