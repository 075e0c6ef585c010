// The Shard service: every call of Session becomes a conversation. It bounds how many callers may
// stand at the door without having said hello, and ends all of them when the process stops. Session
// streams never end by themselves, so a stop that waited for them would wait for ever (shard §3.5).

import { type Handlers, rawStream, RpcError, type Shard } from '@bigfleet/wire';
import { Conversation, type ConversationHost } from './conversation.ts';

/** All operators of a full shard at once after a restart, twice over. */
const MAX_CONVERSATIONS = 10_000;

export class SessionService {
  readonly #host: ConversationHost;
  /** Open streams, with or without a hello. */
  readonly #conversations = new Set<Conversation>();
  #isStopped = false;

  constructor(host: ConversationHost) {
    this.#host = host;
  }

  handlers(): Handlers<typeof Shard> {
    return {
      session: rawStream((requests, call) => {
        if (this.#isStopped) throw new RpcError('UNAVAILABLE', 'the shard is stopping');
        if (this.#conversations.size >= MAX_CONVERSATIONS) {
          throw new RpcError('RESOURCE_EXHAUSTED', 'session_limit: too many open streams');
        }
        const conversation: Conversation = new Conversation(this.#host, requests, call, () =>
          this.#conversations.delete(conversation),
        );
        this.#conversations.add(conversation);
        conversation.run().then(undefined, (error: unknown) => conversation.stream.end({ error }));
        return conversation.stream;
      }),
    };
  }

  /** Ends every stream in good order; operators reconnect wherever their address leads. */
  stop(): void {
    this.#isStopped = true;
    for (const conversation of this.#conversations) conversation.end(undefined);
  }
}
