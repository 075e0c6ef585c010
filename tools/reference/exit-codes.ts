// Exit codes of every command, and how each is shown: the test runs the real command and looks.

export interface ExitCode {
  readonly command: string;
  readonly exit: number;
  readonly meaning: string;
  /** Program below the repository with its arguments; none where a server or a signal is needed. */
  readonly shownBy?: readonly string[];
}

const CONFORMANCE = 'packages/conformance/src/main.ts';
const TEMPLATE = 'providers/_template/src/main.ts';
/** Port 1 of loopback: nothing listens there. */
const NOBODY = '127.0.0.1:1';

export const EXIT_CODES: readonly ExitCode[] = [
  {
    command: 'bigfleet',
    exit: 0,
    meaning: 'as asked; a stop by SIGTERM or SIGINT',
    shownBy: ['bin/bigfleet', '--help'],
  },
  {
    command: 'bigfleet',
    exit: 1,
    meaning: 'it failed or refused to start; replay and diff: the decisions differ',
    shownBy: ['bin/bigfleet', 'replay', '/nowhere'],
  },
  {
    command: 'bigfleet',
    exit: 2,
    meaning: 'the command line is wrong, or Node has another major version than 24',
    shownBy: ['bin/bigfleet', 'shard', '--nonsense'],
  },
  { command: 'bigfleetctl', exit: 0, meaning: 'as asked', shownBy: ['bin/bigfleetctl', '--help'] },
  {
    command: 'bigfleetctl',
    exit: 1,
    meaning: 'refused, unreachable or a wrong command line; doctor: warnings',
    shownBy: ['bin/bigfleetctl', 'status', `--coordinator=${NOBODY}`],
  },
  {
    command: 'bigfleetctl',
    exit: 2,
    meaning: 'doctor only: at least one error was found',
    shownBy: ['bin/bigfleetctl', 'doctor', `--coordinator=${NOBODY}`],
  },
  {
    command: 'bigfleetctl',
    exit: 3,
    meaning: 'some shards answered, others did not; stderr names them',
  },
  {
    command: 'bigfleet-operator',
    exit: 0,
    meaning: 'a stop by SIGTERM or SIGINT',
    shownBy: ['bin/bigfleet-operator', '--version'],
  },
  {
    command: 'bigfleet-operator',
    exit: 1,
    meaning: 'it failed, refused to start, or the command line is wrong',
    shownBy: ['bin/bigfleet-operator', '--nonsense'],
  },
  {
    command: 'bigfleet-unschedulable-pod-controller',
    exit: 0,
    meaning: 'a stop by SIGTERM or SIGINT',
    shownBy: ['bin/bigfleet-unschedulable-pod-controller', '--version'],
  },
  {
    command: 'bigfleet-unschedulable-pod-controller',
    exit: 1,
    meaning: 'it failed, refused to start, or the command line is wrong',
    shownBy: ['bin/bigfleet-unschedulable-pod-controller', '--nonsense'],
  },
  {
    command: 'bfconformance',
    exit: 0,
    meaning: 'every claimed profile is certified',
    shownBy: [CONFORMANCE, '-list'],
  },
  { command: 'bfconformance', exit: 1, meaning: 'FAILED or INCOMPLETE' },
  {
    command: 'bfconformance',
    exit: 2,
    meaning: 'the command line is wrong, or nothing could be judged',
    shownBy: [CONFORMANCE, '-target', NOBODY],
  },
  {
    command: 'a provider',
    exit: 0,
    meaning: 'a stop by SIGTERM or SIGINT',
    shownBy: [TEMPLATE, '--help'],
  },
  {
    command: 'a provider',
    exit: 1,
    meaning: 'it failed or refused to start',
    shownBy: [TEMPLATE],
  },
  {
    command: 'a provider',
    exit: 2,
    meaning: 'the command line is wrong',
    shownBy: [TEMPLATE, '--nonsense'],
  },
  {
    command: 'all of them',
    exit: 130,
    meaning: 'a second SIGTERM or SIGINT: it ended without waiting for the first to be done',
  },
  {
    command: 'all of them',
    exit: 141,
    meaning: 'whoever read the output left early, as in a pipe to head',
  },
];
