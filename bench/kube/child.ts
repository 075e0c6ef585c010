// Entry point of the kube benches' processes. A client's process loads its own client and no other: its
// memory is what is measured.

import { type Answers, answerQuestions } from '../harness/answer-questions.ts';
import type { ClientOrder } from './client-order.ts';
import type { ServerOrder } from './server.ts';

async function answersFor(order: ServerOrder | ClientOrder): Promise<Answers> {
  if (order.role === 'server') return (await import('./server.ts')).serveCluster(order);
  return order.side === 'ours'
    ? (await import('./ours.ts')).ourClient(order)
    : (await import('./reference/client-node.ts')).referenceClient(order);
}

answerQuestions(answersFor(JSON.parse(process.argv[2] ?? 'null') as ServerOrder | ClientOrder));
