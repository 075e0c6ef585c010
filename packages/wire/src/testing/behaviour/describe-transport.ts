// The one behaviour suite of all transports. What passes here may be relied on by components,
// whichever transport carries them; a difference between adapters is a bug in one of them.

import { describe } from 'node:test';
import { describeCancellation } from './cancellation.ts';
import { describeFailures } from './failures.ts';
import { describeLifecycle } from './lifecycle.ts';
import { describeServices } from './services.ts';
import { describeStreams } from './streams.ts';
import { describeUnary } from './unary.ts';
import type { OpenWorld } from './world.ts';

export function describeTransport(name: string, open: OpenWorld): void {
  describe(name, () => {
    describeUnary(open);
    describeStreams(open);
    describeCancellation(open);
    describeFailures(open);
    describeLifecycle(open);
    describeServices(open);
  });
}
