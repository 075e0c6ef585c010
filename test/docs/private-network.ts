// A page prints fixed ports, and a machine that runs tests may use them already. Where namespaces
// are allowed, the page's servers and their clients get a loopback of their own.

import { createNetwork, netnsSupport, type Place } from '../toolkit/index.ts';

export interface PrivateNetwork extends AsyncDisposable {
  readonly command: Place['command'];
}

export async function privateNetwork(): Promise<PrivateNetwork> {
  const support = await netnsSupport();
  if (!support.ok) {
    return {
      command: (command, args) => ({ command, args }),
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const network = await createNetwork({ hosts: { page: ['net'] } });
  const host = network.host('page');
  return {
    command: (command, args) => host.command(command, args),
    [Symbol.asyncDispose]: () => network[Symbol.asyncDispose](),
  };
}
