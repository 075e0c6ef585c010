// The end of a log file, for error messages. A provider that died at start said why there.

import { open } from 'node:fs/promises';

const MAX_BYTES = 8 * 1024;
const MAX_LINES = 20;

export async function logTail(file: string): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - MAX_BYTES);
    const { buffer, bytesRead } = await handle.read({
      buffer: Buffer.alloc(MAX_BYTES),
      position: start,
    });
    const lines = buffer.toString('utf8', 0, bytesRead).trimEnd().split('\n');
    return lines.slice(-MAX_LINES).join('\n');
  } finally {
    await handle.close();
  }
}
