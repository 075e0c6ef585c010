// A wrong provider out of a right one: some RPCs are replaced, the rest goes through. Test only;
// the suite proves with it that its checks can fail.

import type { Endpoint } from '../endpoint.ts';

export type Rpcs = Omit<Endpoint, 'target' | 'close'>;

/** Given the real endpoint, the RPCs to replace; they may call the real ones. */
export type Tampering = (real: Endpoint) => Partial<Rpcs>;

export function tamper(real: Endpoint, tampering: Tampering): Endpoint {
  const wrong = tampering(real);
  return {
    target: real.target,
    create: wrong.create ?? ((call) => real.create(call)),
    configure: wrong.configure ?? ((call) => real.configure(call)),
    drain: wrong.drain ?? ((call) => real.drain(call)),
    delete: wrong.delete ?? ((call) => real.delete(call)),
    get: wrong.get ?? ((machineId) => real.get(machineId)),
    list: wrong.list ?? ((query) => real.list(query)),
    close: () => real.close(),
  };
}
