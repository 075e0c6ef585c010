// One way for a write of this folder to fail: what was not made durable did not happen.

import { BigFleetError, describeThrown } from '@bigfleet/base';
import type { DurableFile } from '../rails/durable-file.ts';

export async function writeDurably(file: DurableFile, text: string): Promise<void> {
  try {
    await file.replace(text);
  } catch (cause) {
    const problem = `${file.path} cannot be written: ${describeThrown(cause)}`;
    throw new BigFleetError('ownership_unwritable', problem, { cause });
  }
}
