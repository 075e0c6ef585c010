// Entry point of a wire bench's other processes, in the role that it is ordered.

import { realRuntime } from '@bigfleet/base/real';
import { type Answers, answerQuestions } from '../harness/answer-questions.ts';
import { serveBare } from './bare.ts';
import { type Order, parseOrder, type ServerOrder } from './child-order.ts';
import { serveOurs } from './ours.ts';
import { createService } from './service.ts';
import { openStreams } from './stream-clients.ts';
import { serveStreams } from './stream-server.ts';

async function answersFor(order: Order): Promise<Answers> {
  switch (order.role) {
    case 'server':
      return answerAsServer(order);
    case 'stream-server':
      return serveStreams(order);
    case 'stream-clients':
      return openStreams(order);
  }
}

async function answerAsServer({ side, seed }: ServerOrder): Promise<Answers> {
  const service = createService(seed);
  const address =
    side === 'ours' ? await serveOurs(realRuntime(), service) : await serveBare(service);
  return {
    address: () => address,
    cpuMicros: () => {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
  };
}

answerQuestions(answersFor(parseOrder(process.argv[2])));
