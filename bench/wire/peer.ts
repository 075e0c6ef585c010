// The other processes of a wire bench. All may collect garbage by hand: memory is read after that.

import { PeerProcess } from '../harness/peer-process.ts';
import type { Order } from './child-order.ts';

const child = new URL('./child.ts', import.meta.url);

export function startPeer(order: Order, nodeFlags: readonly string[] = []): PeerProcess {
  return new PeerProcess({ child, order, nodeFlags: ['--expose-gc', ...nodeFlags] });
}
