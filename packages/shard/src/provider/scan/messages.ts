// What passes between the main thread and the reconcile worker, in order in each direction.

import type { Keepalive } from '@bigfleet/wire';
import type { ListRequest } from '../provider.ts';
import type { ProviderError, ProviderErrorOptions } from '../provider-error.ts';
import type { ScanAnswer, ScanOrder } from './list-scans.ts';
import type { TlsParcel } from './tls-parcel.ts';

export type ToScanWorker =
  | { readonly kind: 'scan'; readonly id: number; readonly order: ScanOrder }
  | {
      readonly kind: 'list';
      readonly id: number;
      readonly line: number;
      readonly request: ListRequest;
      readonly order: Omit<ScanOrder, 'bytes'>;
    }
  | { readonly kind: 'cancel'; readonly id: number }
  | { readonly kind: 'dial'; readonly line: number; readonly address: string }
  | { readonly kind: 'hang_up'; readonly line: number }
  | { readonly kind: 'tls'; readonly tls: TlsParcel };

export type FromScanWorker =
  /** Of a List: the provider has said what it has to say. */
  | { readonly kind: 'answered'; readonly id: number }
  | { readonly kind: 'failed'; readonly id: number; readonly failure: PlainProviderError }
  | {
      readonly kind: 'scanned';
      readonly id: number;
      readonly answer: ScanAnswer;
      /** That the List came on, by the number of its line; 0 of a List that main received. */
      readonly connection: number;
      /** Of the reconcile thread since the answer before; undefined in the first answers. */
      readonly threadDeltas: Float64Array | undefined;
    };

export interface ScanWorkerData {
  readonly tls: TlsParcel | undefined;
  readonly keepalive: Keepalive | undefined;
}

/** An error's class does not survive a port; what the shard concludes from it has to. */
type PlainProviderError = Required<Omit<ProviderErrorOptions, 'cause'>>;

export function plainError({ failure, status, message, code }: ProviderError): PlainProviderError {
  return { failure, status, message, code };
}
