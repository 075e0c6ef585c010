// The same process, started again with the settings that it lacks: same pid, same standard streams,
// nothing else open yet. Never returns in that case. A process with a channel to its parent is left as
// it is, because the channel would not survive; so is one on a platform that cannot replace itself.

import { withMemorySettings } from './memory-settings.ts';

type Started = Pick<
  NodeJS.Process,
  'execPath' | 'execArgv' | 'argv' | 'env' | 'connected' | 'execve'
>;

export function startAgain(started: Started): void {
  if (started.connected || started.execve === undefined) return;
  const again = withMemorySettings(started);
  if (again === undefined) return;
  started.execve(started.execPath, again.args, again.env);
}
