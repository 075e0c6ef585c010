// Ends the demo's processes when the demo cannot: after a SIGKILL nothing of it runs any more, and processes in
// groups of their own would keep its ports for ever. A shell in a session of its own is told of every start
// and every end over a pipe. The kernel closes the pipe with the demo, however that ended; what is still
// on the list then is asked to end, and killed when it has not after as long as a stop may take.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** Seconds for a process to end by itself. */
const GRACE_SECONDS = 15;

const SCRIPT = `
pids=
while read -r word pid; do
  case $word in
    start) pids="$pids $pid" ;;
    end)
      left=
      for each in $pids; do [ "$each" = "$pid" ] || left="$left $each"; done
      pids=$left ;;
  esac
done
[ -n "$pids" ] || exit 0
kill -TERM $pids 2>/dev/null
for second in $(seq ${GRACE_SECONDS}); do
  alive=
  for each in $pids; do kill -0 "$each" 2>/dev/null && alive=1; done
  [ -n "$alive" ] || exit 0
  sleep 1
done
kill -KILL $pids 2>/dev/null
`;

let guardian: ChildProcess | undefined;

/** Tell it of every process; of those that were never started there is nothing to tell. */
export function tellGuardian(word: 'start' | 'end', pid: number | undefined): void {
  if (pid === undefined) return;
  guardian ??= startGuardian();
  guardian.stdin?.write(`${word} ${pid}\n`);
}

/** Neither it nor its pipe keeps the demo from ending. */
function startGuardian(): ChildProcess {
  const started = spawn('sh', ['-c', SCRIPT], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
  });
  // The demo runs without its guardian too, on a system without a shell or after the shell was killed.
  started.on('error', () => undefined);
  started.stdin.on('error', () => undefined);
  started.unref();
  (started.stdin as Socket).unref();
  return started;
}
