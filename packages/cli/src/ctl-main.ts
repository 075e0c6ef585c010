// The entry point of `bigfleetctl`.

import { realRuntime } from '@bigfleet/base/real';
import { runBigfleetctl } from './ctl/bigfleetctl.ts';
import { grpcNetwork } from './ctl/connect/network.ts';
import { nodeCtlPort } from './ctl/context.ts';

const runtime = realRuntime();
const context = { runtime, port: nodeCtlPort, network: grpcNetwork(runtime) };
process.exit(await runBigfleetctl(process.argv.slice(2), context));
