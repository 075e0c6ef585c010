// Asks a provider for its List and has it scanned: in this thread (virtual time, tests, a provider
// that lives in this process) or in the reconcile thread, which then receives the bytes itself, so that
// neither their decryption nor their copying stops the sockets (worker-scans.ts).

import type { ListRequest, Provider } from '../provider.ts';
import type { ListScans, ScanAnswer, ScanOrder } from './list-scans.ts';

export interface ListAsker {
  /** Rejects with a ProviderError, or with `reconcile_lost`; in both cases nothing was scanned. */
  ask(order: AskOrder): Promise<ListAnswer>;
}

/** A scan, and the connection that its List came on. */
export type ListAnswer = ScanAnswer & {
  /** Empty when the provider is part of this process. Another text: the connection was made anew. */
  readonly connection: string;
};

export interface AskOrder extends Omit<ScanOrder, 'bytes'> {
  readonly request: ListRequest;
  readonly signal?: AbortSignal | undefined;
  /** The provider has answered: what is left takes only our own time. */
  readonly onAnswered: () => void;
}

export function askHere(provider: Provider, scans: ListScans): ListAsker {
  return {
    ask: async ({ request, signal, onAnswered, ...order }) => {
      let connection = '';
      const bytes = await provider.list(request, {
        signal,
        onConnection: (number) => {
          connection = String(number);
        },
      });
      onAnswered();
      return { ...(await scans.scan({ ...order, bytes })), connection };
    },
  };
}
