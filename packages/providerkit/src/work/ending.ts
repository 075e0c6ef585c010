// How the work of a transition ended, and what becomes of its record. Never back to the state it
// came from: a silent revert would hide what happened on the substrate (provider-contract §10).

import { bounded, failureText } from '../backend/provider-error.ts';
import { failed } from '../model/effects.ts';
import type { MachineRecord } from '../model/machine.ts';
import type { TransitionOutcome } from '../observer.ts';
import { NotReadyError } from '../backend/readiness.ts';
import { completed, type Performed } from './perform.ts';
import type { WorkInputs } from './work-item.ts';

export type Ending =
  | { readonly kind: 'done'; readonly performed: Performed }
  | { readonly kind: 'error'; readonly error: unknown }
  /** `phase` says what was waited for: the join itself, or the node's Ready. */
  | { readonly kind: 'timeout'; readonly afterMs: number; readonly phase: 'work' | 'readiness' }
  | { readonly kind: 'host_lost'; readonly reason: string }
  /** The process stops: the record stays as it is, and the next start drives it again. */
  | { readonly kind: 'stopped' };

export type Settling = Exclude<Ending, { readonly kind: 'stopped' }>;

export function settledRecord(
  record: MachineRecord,
  inputs: WorkInputs,
  ending: Settling,
): MachineRecord {
  const { kind } = inputs;
  switch (ending.kind) {
    case 'done':
      return completed(record, ending.performed);
    case 'error':
      return failed(record, errorText(inputs, ending.error));
    case 'timeout': {
      const subject = ending.phase === 'readiness' ? 'node readiness' : kind;
      const text = `${subject}: [timeout/${kind}] timed out after ${ending.afterMs / 1_000} s`;
      return failed(record, text);
    }
    case 'host_lost':
      return failed(record, hostLostText(ending.reason));
  }
}

export function hostLostText(reason: string): string {
  return bounded(`host lost: ${reason}`);
}

function errorText(inputs: WorkInputs, error: unknown): string {
  const text =
    error instanceof NotReadyError
      ? bounded(`node readiness: ${error.message}`)
      : failureText(inputs.kind, error);
  return inputs.kind === 'configure' ? withoutBlob(text, inputs.bootstrapBlob) : text;
}

export function outcomeOf(ending: Settling): TransitionOutcome {
  if (ending.kind === 'done') return 'success';
  return ending.kind === 'timeout' ? 'timeout' : 'error';
}

/** A shorter quote is no credential, and would blank ordinary words. */
const MIN_QUOTE_BYTES = 8;

/**
 * The bootstrap blob is a join credential, and `last_error` is stored, listed and logged. An error of
 * a substrate may quote what it was sent; the quote is taken out here, once, for all backends.
 */
function withoutBlob(text: string, blob: Uint8Array): string {
  if (blob.length < MIN_QUOTE_BYTES) return text;
  const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
  return [bytes.toString('utf8'), bytes.toString('utf8').trim(), bytes.toString('base64')]
    .filter((quote) => quote.length >= MIN_QUOTE_BYTES)
    .reduce((rest, quote) => rest.replaceAll(quote, '[bootstrap blob]'), text);
}
