// Wrong bindings and metadata: lost, changed, mixed, early, late.

import { onLists, onMetadata, onRecords } from '../../../harness/testing/tamperings.ts';
import type { MachineView, TextMap } from '../../../harness/machine.ts';
import { tamper, type Tampering } from '../../../harness/testing/tamper.ts';
import { ids, type Mutant } from '../mutant.ts';
import { inFront } from '../testing/front.ts';

const MAX_ENTRIES = 100;
const LATIN_1_LAST = 0xff;

export const bindingMutants: readonly Mutant[] = [
  {
    name: 'metadata-dropped-on-list',
    wrong: 'List leaves the metadata out.',
    story: 'A slim projection for the list query; a restarted shard loses every binding.',
    caughtBy: ids('B501 B1003 B1202'),
    isSeenByBaseline: true,
    make: () =>
      inFront(() =>
        onLists((inventory) => ({
          ...inventory,
          machines: inventory.machines.map((machine) => ({ ...machine, metadata: new Map() })),
        })),
      ),
  },
  {
    name: 'metadata-is-a-plain-object',
    wrong: 'The key `__proto__` disappears.',
    story: 'Metadata is copied key by key into a plain object.',
    caughtBy: ids('B501 B1202'),
    isSeenByBaseline: true,
    make: () =>
      inFront(() =>
        onMetadata((metadata) => new Map([...metadata].filter(([key]) => key !== '__proto__'))),
      ),
  },
  {
    name: 'metadata-is-trimmed',
    wrong: 'Values lose the blanks at their ends.',
    story: 'Metadata is stored as tags, and the tag service trims.',
    caughtBy: ids('B501 B1202'),
    isSeenByBaseline: true,
    make: () => inFront(() => onMetadata(mapped((value) => value.trim()))),
  },
  {
    name: 'metadata-ends-at-nul',
    wrong: 'Values end at their first NUL.',
    story: "C strings somewhere below; a shard joins the parts of a gang's name with NUL.",
    caughtBy: ids('B501 B504 B1202'),
    isSeenByBaseline: true,
    make: () => inFront(() => onMetadata(mapped((value) => value.split('\0', 1)[0] ?? ''))),
  },
  {
    name: 'metadata-is-latin-1',
    wrong: 'Characters outside Latin-1 become question marks.',
    story: 'The database column has the wrong character set.',
    caughtBy: ids('B501 B1202'),
    isSeenByBaseline: true,
    make: () => inFront(() => onMetadata(mapped(latin1))),
  },
  {
    name: 'metadata-is-normalised',
    wrong: 'Values come back in Unicode normal form C.',
    story: 'A well-meant text library normalises whatever it stores.',
    caughtBy: ids('B501'),
    isSeenByBaseline: false,
    make: () => inFront(() => onMetadata(mapped((value) => value.normalize('NFC')))),
  },
  {
    name: 'metadata-is-cut',
    wrong: 'Of a large map the first hundred entries are kept, and the call succeeds.',
    story: 'The substrate bounds its tags, and the rest is dropped without a word.',
    caughtBy: ids('B209 B503'),
    isSeenByBaseline: false,
    make: () =>
      inFront(() => onMetadata((metadata) => new Map([...metadata].slice(0, MAX_ENTRIES)))),
  },
  {
    name: 'metadata-is-merged',
    wrong: 'A new binding keeps the keys of the one before.',
    story: 'An upsert of tags: the next tenant inherits the priority of a dead workload.',
    caughtBy: ids('B101 B502 B1202'),
    isSeenByBaseline: false,
    make: () => inFront(merging),
  },
  {
    name: 'metadata-aliases-the-request',
    wrong: 'A binding points into the buffer of its request, which the next request overwrites.',
    story: 'Zero-copy decoding over a pooled buffer, without a copy of what is kept.',
    caughtBy: ids('B101 B201 B204 B209 B402 B406 B408 B501 B502 B503 B504 B505 B1003 B1202'),
    isSeenByBaseline: true,
    make: () => inFront(aliasing),
  },
  {
    name: 'metadata-after-the-fact',
    wrong: 'The map appears when the machine is CONFIGURED, not when the call is accepted.',
    story: 'The worker saves the binding at the end; a restart in between loses it.',
    caughtBy: ids('B408 B504'),
    isSeenByBaseline: false,
    make: () => inFront(() => whileConfiguring({ metadata: new Map() })),
  },
  {
    name: 'cluster-after-the-fact',
    wrong: 'The cluster appears when the machine is CONFIGURED, not when the call is accepted.',
    story: 'The worker writes the cluster when the node has joined.',
    caughtBy: ids('B106 B408'),
    isSeenByBaseline: false,
    make: () => inFront(() => whileConfiguring({ cluster: '' })),
  },
  {
    name: 'configure-rebinds',
    wrong: 'Configure of a CONFIGURED machine for another cluster moves it there.',
    story: 'An upsert by machine id: a machine is taken away from under its workloads.',
    caughtBy: ids('B205'),
    isSeenByBaseline: false,
    make: () => inFront(rebinding),
  },
  {
    name: 'binding-survives-drain',
    wrong: 'A drained machine keeps the metadata of its last tenant.',
    story: 'Drain stops the node and forgets the record.',
    caughtBy: ids('B101 B403 B502 B1104 B1202'),
    isSeenByBaseline: true,
    make: () => inFront(keepingMetadata),
  },
];

function mapped(change: (value: string) => string): (metadata: TextMap) => TextMap {
  return (metadata) => new Map([...metadata].map(([key, value]) => [key, change(value)]));
}

function latin1(text: string): string {
  return Array.from(text, (char) => ((char.codePointAt(0) ?? 0) > LATIN_1_LAST ? '?' : char)).join(
    '',
  );
}

function merging(): Tampering {
  const stored = new Map<string, TextMap>();
  return (real) => ({
    configure: (call) => {
      const metadata = new Map([...(stored.get(call.machineId) ?? []), ...(call.metadata ?? [])]);
      stored.set(call.machineId, metadata);
      return real.configure({ ...call, metadata });
    },
  });
}

function rebinding(): Tampering {
  const moved = new Map<string, Partial<MachineView>>();
  const shown = onRecords((machine) =>
    machine.state === 'CONFIGURED' ? { ...machine, ...moved.get(machine.id) } : machine,
  );
  return (real) => ({
    ...shown(real),
    configure: async (call) => {
      const { machineId, clusterId: cluster, metadata = new Map() } = call;
      const answer = await real.configure(call);
      if (answer.ok) moved.set(machineId, { cluster, metadata });
      return answer;
    },
  });
}

function aliasing(): Tampering {
  /** What the one receive buffer holds; only a Configure fills it with entries. */
  let received: TextMap = new Map();
  const shown = onRecords((machine) =>
    machine.cluster === '' ? machine : { ...machine, metadata: received },
  );
  const receive = (metadata: TextMap): void => {
    received = metadata;
  };
  return (real) => {
    const seen = tamper(real, shown);
    return {
      get: (machineId) => {
        receive(new Map());
        return seen.get(machineId);
      },
      list: (query) => {
        receive(new Map());
        return seen.list(query);
      },
      configure: (call) => {
        receive(call.metadata ?? new Map());
        return seen.configure(call);
      },
    };
  };
}

function whileConfiguring(change: Partial<MachineView>): Tampering {
  return onRecords((machine) =>
    machine.state === 'CONFIGURING' ? { ...machine, ...change } : machine,
  );
}

function keepingMetadata(): Tampering {
  const stored = new Map<string, TextMap>();
  return onRecords((machine) => {
    if (machine.metadata.size > 0) stored.set(machine.id, machine.metadata);
    const metadata = stored.get(machine.id);
    const isLeft = machine.state === 'IDLE' && metadata !== undefined;
    return isLeft ? { ...machine, metadata } : machine;
  });
}
