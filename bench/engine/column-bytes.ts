// Memory of the machine columns as allocated, spare capacity included.

import type { Fleet } from './fleet.ts';

export function columnBytesPerMachine({ engine }: Fleet): number {
  let bytes = 0;
  for (const column of Object.values(engine.inventory.columns)) {
    if (ArrayBuffer.isView(column)) bytes += column.byteLength;
  }
  return bytes / engine.inventory.size;
}
