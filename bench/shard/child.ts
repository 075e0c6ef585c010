// Entry point of a shard bench's other processes: takes its role, answers questions until its
// parent is gone. A question that fails is answered with the failure; the process lives on.

import { serveFleet } from './fleet-provider.ts';
import { type Answers, type Order, parseOrder } from './order.ts';
import { runOperators } from './operators.ts';

function answersFor(order: Order): Promise<Answers> {
  return order.role === 'provider' ? serveFleet(order) : runOperators(order);
}

interface Question {
  readonly id: number;
  readonly question: string;
  readonly argument: number;
}

function isQuestion(message: unknown): message is Question {
  return typeof message === 'object' && message !== null && 'question' in message;
}

async function answer(answers: Promise<Answers>, asked: Question): Promise<void> {
  const { id, question, argument } = asked;
  try {
    const answerer = (await answers)[question];
    if (answerer === undefined) throw new Error(`no answer to "${question}" in this role`);
    process.send?.({ id, answer: await answerer(argument) });
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : error });
  }
}

const answers = answersFor(parseOrder(process.argv[2]));
process.once('disconnect', () => process.exit(0));
process.on('message', (message) => {
  if (isQuestion(message)) answer(answers, message).catch(() => process.exit(1));
});
