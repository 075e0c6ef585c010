// The tiny provider as a process, for tests that boot, kill and reboot one:
//   node tiny-main.ts --addr=127.0.0.1:9000 [--seed-count=256] [--state=file] [--no-health]
//     [--no-delete] [--forget] [--die-after=n]
// `--forget` loses its state at every start; `--die-after` ends the process with the n-th call.

import { realRuntime } from '@bigfleet/base/real';
import { parseArgs } from 'node:util';
import {
  type ByteRouter,
  CapacityProvider,
  createGrpcServer,
  Health,
  HealthRegistry,
  openGate,
  Router,
} from '@bigfleet/wire';
import { rmSync } from 'node:fs';
import { TinyProvider } from './tiny-provider.ts';

const { values } = parseArgs({
  options: {
    addr: { type: 'string', default: '127.0.0.1:0' },
    'seed-count': { type: 'string', default: '256' },
    state: { type: 'string' },
    'no-health': { type: 'boolean', default: false },
    'no-delete': { type: 'boolean', default: false },
    forget: { type: 'boolean', default: false },
    'die-after': { type: 'string', default: 'Infinity' },
  },
});

if (values.forget && values.state !== undefined) rmSync(values.state, { force: true });
const provider = new TinyProvider({
  seedCount: Number(values['seed-count']),
  statePath: values.state === '' ? undefined : values.state,
  hasDelete: !values['no-delete'],
});
const router = new Router({ gate: openGate }).add(CapacityProvider, provider.handlers);
if (!values['no-health']) router.add(Health, new HealthRegistry().handlers);

let callsLeft = Number(values['die-after']);
const mortal: ByteRouter = {
  find(path) {
    if (path.includes('CapacityProvider')) callsLeft -= 1;
    if (callsLeft < 0) process.exit(70);
    return router.find(path);
  },
};

const server = createGrpcServer({ runtime: realRuntime(), router: mortal, listen: [values.addr] });
const bound = await server.bind();
process.stdout.write(`listening on ${bound.join(' ')}\n`);
