// Entry point of a wire bench's other processes: takes its role, answers questions until its
// parent is gone. A question that fails is answered with the failure; the process lives on.

import { realRuntime } from '@bigfleet/base/real';
import { serveBare } from './bare.ts';
import { type Answers, type Order, parseOrder, type ServerOrder } from './child-order.ts';
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

interface Question {
  readonly id: number;
  readonly question: string;
}

function isQuestion(message: unknown): message is Question {
  return typeof message === 'object' && message !== null && 'question' in message;
}

async function answer(answers: Promise<Answers>, { id, question }: Question): Promise<void> {
  try {
    const answerer = (await answers)[question];
    if (answerer === undefined) throw new Error(`no answer to "${question}" in this role`);
    process.send?.({ id, answer: await answerer() });
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : error });
  }
}

const answers = answersFor(parseOrder(process.argv[2]));
process.once('disconnect', () => process.exit(0));
process.on('message', (message) => {
  if (isQuestion(message)) answer(answers, message).catch(() => process.exit(1));
});
