// A folder that is gone afterwards, also when the run is interrupted: exiting on a signal skips
// `finally`, and an unpacked revision is not small.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export async function withTempFolder<Value>(
  name: string,
  use: (folder: string) => Promise<Value>,
): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), `bigfleet-${name}-`));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    return await use(folder);
  } finally {
    process.removeListener('exit', remove);
    remove();
  }
}
