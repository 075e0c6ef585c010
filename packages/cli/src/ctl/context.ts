// What bigfleetctl is given: time, the process around it, and the network.

import type { Runtime } from '@bigfleet/base';
import type { Network } from './connect/network.ts';
import type { CtlPort } from './port.ts';

export interface CtlContext {
  readonly runtime: Runtime;
  readonly port: CtlPort;
  readonly network: Network;
}
