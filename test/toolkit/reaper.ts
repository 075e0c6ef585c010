// Cleans up after a test process however it ends: return, throw, SIGKILL, Ctrl-C. A small second
// process holds one end of a pipe and a list of what to undo; when the pipe closes, the owner is
// gone, and it kills the registered process groups, deletes namespaces, removes directories.
// Exit handlers alone would leak all of it on SIGKILL and on a crash inside native code.

import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

/** One thing to undo. Groups go first, then namespaces and links, then directories. */
export type Remnant =
  | { readonly kind: 'group'; readonly pid: number; readonly startTicks: string }
  | { readonly kind: 'netns'; readonly name: string }
  | { readonly kind: 'dir'; readonly path: string };

/** A line of the pipe. */
export type ReaperMessage =
  | { readonly op: 'add'; readonly id: number; readonly remnant: Remnant }
  | { readonly op: 'drop'; readonly id: number };

let reaper: ChildProcess | undefined;
let nextId = 0;

/** Registers something to undo; call the result once it is undone properly. */
export function leaveToReaper(remnant: Remnant): () => void {
  nextId += 1;
  const id = nextId;
  send({ op: 'add', id, remnant });
  return () => send({ op: 'drop', id });
}

function send(message: ReaperMessage): void {
  reaper ??= startReaper();
  // A pipe write of this size reaches the kernel at once, so even SIGKILL right after it is safe.
  reaper.stdin?.write(`${JSON.stringify(message)}\n`);
}

function startReaper(): ChildProcess {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('./reaper-main.ts', import.meta.url))],
    // Its own session: Ctrl-C must end the test, not the one that cleans up after it. Its stderr
    // is ours, so that a failed clean-up is seen; the test runner waits for it for that reason.
    { detached: true, stdio: ['pipe', 'ignore', 'inherit'], env: { PATH: process.env['PATH'] } },
  );
  child.on('error', (error) => {
    throw new Error('the reaper did not start: processes of this test could leak', {
      cause: error,
    });
  });
  child.unref();
  // The pipe must not keep the test alive either; it is a socket, typed as a plain Writable.
  if (child.stdin instanceof Socket) child.stdin.unref();
  return child;
}
