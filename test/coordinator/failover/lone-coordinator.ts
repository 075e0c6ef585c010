// One coordinator process on loopback, without anything beside it unless the arguments say so.

import path from 'node:path';
import { leasePort } from '../../toolkit/index.ts';
import { CoordinatorProcess, type CoordinatorSpec } from './coordinator-process.ts';

export interface LoneOptions {
  /** Its data directory is below. */
  readonly folder: string;
  readonly argv?: readonly string[];
  readonly env?: CoordinatorSpec['env'];
  /** How a command is started; as it is unless told. */
  readonly command?: CoordinatorSpec['place']['command'];
}

/** Not started yet. Its ports last as long as the stack. */
export async function planLone(
  options: LoneOptions,
  opening: AsyncDisposableStack,
): Promise<CoordinatorProcess> {
  const { folder, argv = [], env, command = (name, args) => ({ command: name, args }) } = options;
  const spec: CoordinatorSpec = {
    nodeId: 'lone',
    place: { address: '127.0.0.1', command },
    port: opening.use(await leasePort()).port,
    metricsPort: opening.use(await leasePort()).port,
    dataDir: path.join(folder, 'data'),
    argv: ['--bootstrap', ...argv],
    ...(env === undefined ? {} : { env }),
  };
  return opening.use(new CoordinatorProcess(spec));
}
