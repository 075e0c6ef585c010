// What travels between two ends of a connection. A packet owns its bytes: messages are copied
// when they are sent, so peers in one process never share memory.

import { crc32 } from 'node:zlib';
import type { FailureCode, Metadata } from '../transport/status.ts';

export type ControlPacket =
  | { readonly kind: 'dial' }
  | { readonly kind: 'accept' }
  /** The connection is gone; `reason` is what the receiver's calls fail with. */
  | { readonly kind: 'reset'; readonly reason: string }
  /** No new calls on this connection, please; open ones may finish. */
  | { readonly kind: 'goaway' }
  | { readonly kind: 'ping' }
  | { readonly kind: 'pong' };

export type CallPacket =
  | OpenPacket
  | { readonly kind: 'data'; readonly message: Uint8Array }
  /** Half-close. */
  | { readonly kind: 'end' }
  /** The receiver consumed this many bytes. */
  | { readonly kind: 'credit'; readonly bytes: number }
  | { readonly kind: 'cancel' }
  /** The network lost a packet of this call and gave the call up. */
  | { readonly kind: 'lost' }
  | StatusPacket;

export interface OpenPacket {
  readonly kind: 'open';
  readonly path: string;
  readonly metadata: Metadata;
  /** Time left until the caller's deadline when it sent this; relative, as in gRPC. */
  readonly timeoutMs: number | undefined;
  /** A unary call sends its request and its half-close along. */
  readonly message: Uint8Array | undefined;
}

export interface StatusPacket {
  readonly kind: 'status';
  readonly failure: { readonly code: FailureCode; readonly text: string } | undefined;
  readonly trailers: Metadata;
  /** The response of a unary method. */
  readonly message: Uint8Array | undefined;
}

export type Packet = ControlPacket | CallPacket;

/** HTTP/2 and gRPC framing, roughly; also what makes empty messages count against windows. */
const FRAME_BYTES = 16;

export function packetBytes(packet: Packet): number {
  switch (packet.kind) {
    case 'data':
      return FRAME_BYTES + packet.message.length;
    case 'open':
      return FRAME_BYTES + packet.path.length + metadataBytes(packet.metadata) + length(packet);
    case 'status':
      return FRAME_BYTES + metadataBytes(packet.trailers) + length(packet);
    default:
      return FRAME_BYTES;
  }
}

/** What one message costs in a flow-control window. */
export function windowBytes(message: Uint8Array): number {
  return FRAME_BYTES + message.length;
}

/** One field of a log line: what it is, and for messages their length and checksum. */
export function packetText(packet: Packet): string {
  switch (packet.kind) {
    case 'data':
      return `data ${digest(packet.message)}`;
    case 'open': {
      const timeout = packet.timeoutMs === undefined ? '-' : Math.round(packet.timeoutMs * 1000);
      return `open ${packet.path} ${timeout}${metadataText(packet.metadata)} ${digest(packet.message)}`;
    }
    case 'status':
      return `status ${packet.failure?.code ?? 'OK'}${metadataText(packet.trailers)} ${digest(packet.message)}`;
    case 'credit':
      return `credit ${packet.bytes}`;
    case 'reset':
      return `reset ${packet.reason}`;
    default:
      return packet.kind;
  }
}

function digest(message: Uint8Array | undefined): string {
  return message === undefined ? '-' : `${message.length}:${crc32(message).toString(16)}`;
}

function length(packet: OpenPacket | StatusPacket): number {
  return packet.message?.length ?? 0;
}

function metadataBytes(metadata: Metadata): number {
  let bytes = 0;
  for (const [key, value] of metadata) bytes += key.length + value.length;
  return bytes;
}

function metadataText(metadata: Metadata): string {
  if (metadata.size === 0) return '';
  const text = [...metadata].map(([key, value]) => `${key}=${value}\n`).join('');
  return ` m${metadata.size}:${crc32(text).toString(16)}`;
}
