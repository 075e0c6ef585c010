// What every process of BigFleet is made of.

export {
  type DataDir,
  type DataDirOptions,
  type DataDirRefusal,
  takeDataDir,
} from './data-dir.ts';
export { type ExclusiveLock, exclusiveLock } from './exclusive-lock.ts';
export { makeDirectory, makeDirectorySync } from './make-directory.ts';
export { nodeProblem } from './node-version.ts';
export { type PortHolder, portHolder } from './port-holder.ts';
export { nodeProcess, type ProcessPort } from './process-port.ts';
export { parseYaml, yamlText } from './yaml.ts';
