// Short ways to say how an order ended.

import type { InstructionReason } from '@bigfleet/base';
import type { OrderOutcome } from './shard-control.ts';

export const accepted: OrderOutcome = { kind: 'accepted' };

export function rejected(code: InstructionReason, detail: string): OrderOutcome {
  return { kind: 'rejected', code, detail };
}

export function failed(code: InstructionReason | '', detail: string): OrderOutcome {
  return { kind: 'failed', code, detail };
}
