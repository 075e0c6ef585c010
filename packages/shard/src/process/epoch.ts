// The epoch of this process: one more than every predecessor's, durable before anything acts
// (shard §3.3). A lost or torn write would hand the next process an epoch that providers have
// already seen, and they would fence the live shard as a zombie. So whatever cannot be read refuses
// the start, and the new value is on disk before it is returned.

import { BigFleetError, describeThrown } from '@bigfleet/base';
import type { DurableFile } from '../rails/durable-file.ts';

/** What the wire carries. */
const MAX_EPOCH = 2n ** 63n - 1n;

/** max(file, floor) + 1, written before it is returned. */
export async function nextEpoch(file: DurableFile, floor: bigint): Promise<bigint> {
  const last = await readEpoch(file);
  const epoch = (last > floor ? last : floor) + 1n;
  if (epoch > MAX_EPOCH) throw corrupt(file, 'it is at its end');
  try {
    await file.replace(`${epoch}\n`);
  } catch (cause) {
    const text = `${file.path} cannot be written: ${describeThrown(cause)}`;
    throw new BigFleetError('epoch_unwritable', text, { cause });
  }
  return epoch;
}

async function readEpoch(file: DurableFile): Promise<bigint> {
  let text: string | undefined;
  try {
    text = await file.read();
  } catch (cause) {
    throw corrupt(file, `it cannot be read: ${describeThrown(cause)}`, cause);
  }
  if (text === undefined) return 0n;
  const digits = /^(\d{1,19})\n?$/.exec(text)?.[1];
  if (digits === undefined) throw corrupt(file, 'it is not a decimal number');
  return BigInt(digits);
}

function corrupt({ path }: DurableFile, problem: string, cause?: unknown): BigFleetError {
  return new BigFleetError('epoch_corrupt', `${path} cannot be used: ${problem}`, { cause });
}
