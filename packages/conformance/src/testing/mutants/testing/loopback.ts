// A channel that ends in a router of the same process: no network, no delay, the bytes as they are.
// A front of a provider reaches the right handlers behind it by this.

import { type ByteRouter, type Channel, noMetadata, type Peer, RpcError } from '@bigfleet/wire';

const peer: Peer = { address: 'loopback', identity: { kind: 'unverified' } };

export function loopback(router: ByteRouter): Channel {
  return {
    unary: async (path, request, options) => {
      const method = router.find(path);
      if (method?.kind !== 'unary') throw new RpcError('UNIMPLEMENTED', `no unary ${path}`);
      const { signal = new AbortController().signal, metadata = noMetadata } = options ?? {};
      return method.handle(request, { path, peer, metadata, signal, setTrailer: () => {} });
    },
    stream: () => {
      throw new RpcError('UNIMPLEMENTED', 'a capacity provider streams nothing');
    },
    close: () => {},
  };
}
