// A full List of 500,000 machines into columns, beside the same bytes into objects by the
// generated code: time in one process, interleaved, with a collection before each side; peak
// memory above the input in a process each. The shard decodes such a List at start and every ten
// minutes; as objects it would stop the process for seconds.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decodeMachineList, type ListColumns } from '@bigfleet/shard';
import { MachineListSchema } from '@bigfleet/wire';
import { fromBinary } from '@bufbuild/protobuf';
import { type BenchEntry, defineBench, type Extra, keep } from '../harness/index.ts';
import { median } from '../harness/percentiles.ts';
import { withTempFolder } from '../harness/temp-folder.ts';
import { fleetBytes } from './list-columns/fleet-bytes.ts';

const MACHINE_COUNT = 500_000;
const ROUNDS = 4;
const OURS_PER_ROUND = 3;
const CHILD = fileURLToPath(new URL('./list-columns/child.ts', import.meta.url));
const HEAP_FLAGS: readonly string[] = ['--max-old-space-size=8192'];

interface State {
  readonly bytes: Uint8Array;
  readonly columns: ListColumns;
}

function timeOf(work: () => unknown): number {
  keep(undefined);
  globalThis.gc?.();
  const startMs = performance.now();
  keep(work());
  return performance.now() - startMs;
}

/** Of the fastest runs: a run of seconds always meets other work of the machine, both sides alike. */
function compareTimes(bytes: Uint8Array): Extra {
  const oursMs: number[] = [];
  const referenceMs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (let run = 0; run < OURS_PER_ROUND; run++) {
      oursMs.push(timeOf(() => decodeMachineList(bytes)));
    }
    referenceMs.push(timeOf(() => fromBinary(MachineListSchema, bytes)));
  }
  return {
    ratio: Math.min(...referenceMs) / Math.min(...oursMs),
    ratioOfMedians: median(referenceMs) / median(oursMs),
    oursMinMs: Math.min(...oursMs),
    referenceMinMs: Math.min(...referenceMs),
  };
}

async function comparePeaks(bytes: Uint8Array): Promise<Extra> {
  return withTempFolder('list', (folder) => {
    const file = join(folder, 'list.bin');
    writeFileSync(file, bytes);
    const peak = (into: string): number => {
      const args = ['--expose-gc', ...HEAP_FLAGS, CHILD, into, file];
      const report = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as {
        peakBytes: number;
      };
      return report.peakBytes;
    };
    const oursPeakBytes = peak('columns');
    const referencePeakBytes = peak('objects');
    const memoryRatio = referencePeakBytes / oursPeakBytes;
    return Promise.resolve({ memoryRatio, oursPeakBytes, referencePeakBytes });
  });
}

const entries: readonly BenchEntry[] = [
  defineBench<State>({
    name: 'provider/list-columns',
    shape: {
      machines: MACHINE_COUNT,
      readableMachines: MACHINE_COUNT,
      bytes: { min: 150_000_000, max: 268_435_456 },
      profiles: { min: 1_000, max: 20_000 },
    },
    warmup: 2,
    iterations: 10,
    nodeFlags: HEAP_FLAGS,
    bars: { 'extra.ratio': { min: 5 }, 'extra.memoryRatio': { min: 5 } },
    // Columns are external memory, whose pressure makes V8 collect in every batch.
    measureAllocations: false,
    setup({ seed }) {
      const bytes = fleetBytes(seed, MACHINE_COUNT);
      return { bytes, columns: decodeMachineList(bytes) };
    },
    observe({ bytes, columns }) {
      let readableMachines = 0;
      for (let row = 0; row < columns.rowCount; row++) {
        if (columns.problem(row) === undefined && columns.id(row) !== '') readableMachines++;
      }
      return {
        machines: fromBinary(MachineListSchema, bytes).machines.length,
        readableMachines,
        bytes: bytes.length,
        profiles: columns.data.profileCount,
      };
    },
    iteration({ bytes }) {
      keep(decodeMachineList(bytes));
    },
    async extras({ bytes }) {
      const times = compareTimes(bytes);
      return { ...times, ...(await comparePeaks(bytes)) };
    },
  }),
];

export default entries;
