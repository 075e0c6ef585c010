// A file that only grows, behind an interface, so that tests fill the disk on request.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

export interface AppendFile {
  /** All of it, or it rejects. */
  append(text: string): Promise<void>;
  close(): Promise<void>;
}

export type OpenAppendFile = (path: string) => Promise<AppendFile>;

const MODE = 0o644;

export const openAppendFile: OpenAppendFile = async (path) => {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
  const handle = await open(path, flags, MODE);
  return {
    append: (text) => handle.appendFile(text, 'utf8'),
    close: () => handle.close(),
  };
};
