// Entry point of a shard bench's other processes: takes its role, answers questions until its
// parent is gone.

import { answerQuestions } from '../harness/answer-questions.ts';
import { serveFleet } from './fleet-provider.ts';
import { parseOrder } from './order.ts';
import { runOperators } from './operators.ts';

const order = parseOrder(process.argv[2]);
answerQuestions(order.role === 'provider' ? serveFleet(order) : runOperators(order));
