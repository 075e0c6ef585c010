// The stable log lines of the process itself; those of sessions are in session/log-messages.ts.

import type { LogMessage } from '@bigfleet/telemetry';

type M<K extends string = never, O extends string = never> = LogMessage<K, O>;

export const operatorStopped: M = { level: 'info', text: 'operator stopped' };
export const templateMissing: M<'code' | 'flag' | 'chart_value'> = {
  level: 'warn',
  text: 'no bootstrap template: new machines get a stub and join no cluster',
};
export const evictionFailed: M<'pod' | 'err'> = {
  level: 'warn',
  text: 'eviction transient failure; will retry',
};
export const choreFailed: M<'err'> = {
  level: 'warn',
  text: 'write failed; the next event brings it again',
};
export const leftOverKept: M<'machine'> = {
  level: 'warn',
  text: 'UpcomingNode of an unknown machine kept: its Node is Ready',
};
export const tokenFailed: M<'err'> = { level: 'warn', text: 'bootstrap token not minted' };
export const versionUnknown: M<'err'> = {
  level: 'warn',
  text: "the API server's version is not known; templates render it empty",
};
export const leaseAcquired: M<'lease' | 'identity'> = { level: 'info', text: 'lease acquired' };
export const leaseWaiting: M<'lease' | 'holder'> = {
  level: 'info',
  text: 'lease held by another operator; waiting',
};
export const leaseLost: M<'lease' | 'err'> = {
  level: 'error',
  text: 'lease lost; the session ends',
};
export const leaseFailed: M<'lease' | 'err'> = { level: 'warn', text: 'lease request failed' };
