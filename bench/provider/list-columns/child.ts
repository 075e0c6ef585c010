// Peak memory of one decoding, in a process of its own: a synchronous decoder leaves no moment to
// look, and only the kernel's high-water mark sees its peak. The first argument says what to
// decode into, the second the file with the List. Prints one JSON line.

import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { decodeMachineList } from '@bigfleet/shard';
import { MachineListSchema } from '@bigfleet/wire';
import { fromBinary } from '@bufbuild/protobuf';
import { keep } from '../../harness/index.ts';
import { fleetBytes } from './fleet-bytes.ts';

const [into = '', file = ''] = process.argv.slice(2);
const decoders: Readonly<Record<string, (bytes: Uint8Array) => unknown>> = {
  columns: decodeMachineList,
  objects: (bytes) => fromBinary(MachineListSchema, bytes),
};
const decode = decoders[into];
if (decode === undefined) throw new Error(`decode into columns or objects, not ${into}`);

// Compiled code and grown heaps of a small run belong to neither side.
keep(decode(fleetBytes(1, 2_000)));
const bytes = readExactly(file);
globalThis.gc?.();
const beforeBytes = peakBytes();
keep(decode(bytes));
process.stdout.write(`${JSON.stringify({ peakBytes: peakBytes() - beforeBytes })}\n`);

/** Not resourceUsage().maxRSS, which a process inherits from the larger one that started it. */
function peakBytes(): number {
  const match = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  if (match === null) throw new Error('peak memory is read from /proc/self/status, as on Linux');
  return Number(match[1]) * 1_024;
}

/** Into one buffer of the right size: readFileSync needs more at its peak, which would hide ours. */
function readExactly(path: string): Uint8Array {
  const descriptor = openSync(path, 'r');
  const { size } = fstatSync(descriptor);
  const buffer = Buffer.allocUnsafeSlow(size);
  for (let at = 0; at < size; ) at += readSync(descriptor, buffer, at, size - at, at);
  closeSync(descriptor);
  return buffer;
}
