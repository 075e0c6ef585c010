// A file system in which chosen calls fail the way real ones do: before the effect, after it, or
// with half of a write taken. Calls are counted over all files, in order.

import type { Files, OpenFile } from '../files.ts';

export type Fault =
  /** Nothing happens and the call reports it. */
  | 'ENOSPC'
  | 'EIO'
  /** It happens, and the call reports an error all the same: what a failed fsync may mean. */
  | 'EIO-after'
  /** Half of a write is taken, then the disk is full. */
  | 'half-then-ENOSPC'
  /** Half of a write is taken and reported as such, which is no error at all. */
  | 'short';

export type FileCall = keyof Files | keyof OpenFile;

export class FaultPlan {
  #callCount = 0;
  #decide: (call: FileCall, index: number) => Fault | undefined = () => undefined;
  onFault: () => void = () => {};

  /** Since it was armed. */
  get callCount(): number {
    return this.#callCount;
  }

  /** From call `at` on, `lasting` calls fail. */
  arm(fault: Fault, at: number, lasting: number = 1): void {
    this.armWhen((_call, index) => (index >= at && index < at + lasting ? fault : undefined));
  }

  armWhen(decide: (call: FileCall, index: number) => Fault | undefined): void {
    this.#callCount = 0;
    this.#decide = decide;
  }

  disarm(): void {
    this.armWhen(() => undefined);
  }

  next(call: FileCall): Fault | undefined {
    const fault = this.#decide(call, this.#callCount++);
    if (fault !== undefined) this.onFault();
    return fault;
  }
}

export function faultyFiles(inner: Files, plan: FaultPlan): Files {
  return {
    kindOf: (path) => through(plan, 'kindOf', () => inner.kindOf(path)),
    makeDirectory: (path) => through(plan, 'makeDirectory', () => inner.makeDirectory(path)),
    list: (directory) => through(plan, 'list', () => inner.list(directory)),
    open: async (path) => faultyFile(await through(plan, 'open', () => inner.open(path)), plan),
    create: async (path) =>
      faultyFile(await through(plan, 'create', () => inner.create(path)), plan),
    rename: (from, to) => through(plan, 'rename', () => inner.rename(from, to)),
    remove: (path) => through(plan, 'remove', () => inner.remove(path)),
    syncDirectory: (path) => through(plan, 'syncDirectory', () => inner.syncDirectory(path)),
    lock: (path) => inner.lock(path),
  };
}

function faultyFile(inner: OpenFile, plan: FaultPlan): OpenFile {
  return {
    size: () => through(plan, 'size', () => inner.size()),
    read: (at, length) => through(plan, 'read', () => inner.read(at, length)),
    write: (bytes, at) => faultyWrite(inner, plan, bytes, at),
    truncate: (length) => through(plan, 'truncate', () => inner.truncate(length)),
    sync: () => through(plan, 'sync', () => inner.sync()),
    close: () => inner.close(),
  };
}

async function faultyWrite(
  inner: OpenFile,
  plan: FaultPlan,
  bytes: Uint8Array,
  at: number,
): Promise<number> {
  const fault = plan.next('write');
  if (fault === undefined) return inner.write(bytes, at);
  const half = bytes.subarray(0, Math.ceil(bytes.length / 2));
  if (fault === 'short') return inner.write(half, at);
  if (fault === 'half-then-ENOSPC') await inner.write(half, at);
  if (fault === 'EIO-after') await inner.write(bytes, at);
  throw platformError(fault);
}

async function through<T>(plan: FaultPlan, name: FileCall, call: () => Promise<T>): Promise<T> {
  const fault = plan.next(name);
  if (fault === undefined || fault === 'short') return call();
  if (fault === 'EIO-after') await call();
  throw platformError(fault);
}

function platformError(fault: Fault): Error {
  const code = fault === 'half-then-ENOSPC' ? 'ENOSPC' : fault.replace('-after', '');
  return Object.assign(new Error(`${code}: injected`), { code });
}
