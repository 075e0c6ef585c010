// The process of the demo's Kubernetes clusters: `node control-planes.ts --cluster=web-eu=16443 …`.
// Wiring only.

import { realRuntime } from '@bigfleet/base/real';
import { runControlPlanes } from './control-plane/run-control-planes.ts';

process.exitCode = await runControlPlanes(realRuntime(), process.argv.slice(2));
