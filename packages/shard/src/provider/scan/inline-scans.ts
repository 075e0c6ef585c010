// Scans in this thread: for simulation under virtual time and for tests.

import type { ListScans } from './list-scans.ts';
import { Scanner } from './scanner.ts';

export function createInlineScans(): ListScans {
  const scanner = new Scanner();
  return {
    scan: async (order) => scanner.scan(order),
    close: () => Promise.resolve(),
  };
}
