// Where the config file is: --config, BIGFLEETCTL_CONFIG, XDG_CONFIG_HOME, ~/.config.

import path from 'node:path';
import type { CtlPort } from '../port.ts';

export function configPath(flag: string, { env, home }: Pick<CtlPort, 'env' | 'home'>): string {
  const named = flag || (env['BIGFLEETCTL_CONFIG'] ?? '');
  if (named !== '') return named;
  const base = env['XDG_CONFIG_HOME'] || path.join(home, '.config');
  return path.join(base, 'bigfleetctl', 'config.yaml');
}
