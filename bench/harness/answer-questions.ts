// The far end of a `PeerProcess`: answers the questions of its parent until that is gone. A question that
// fails is answered with the failure; the process lives on.

/** How a process answers the questions of its bench. */
export type Answers = Readonly<Record<string, (argument: number) => unknown>>;

interface Question {
  readonly id: number;
  readonly question: string;
  readonly argument: number;
}

export function answerQuestions(answers: Promise<Answers>): void {
  process.once('disconnect', () => process.exit(0));
  process.on('message', (message) => {
    if (isQuestion(message)) answer(answers, message).catch(() => process.exit(1));
  });
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

function isQuestion(message: unknown): message is Question {
  return typeof message === 'object' && message !== null && 'question' in message;
}
