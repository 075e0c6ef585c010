// Metadata between our maps and grpc-js. Only what an application set passes: text values,
// none of the transport's own headers. Binary (-bin) entries are not part of the contract
// and are left out; nothing reads an identity from here.

import { Metadata as GrpcMetadata } from '@grpc/grpc-js';
import {
  checkMetadataEntry,
  isTransportKey,
  type Metadata,
  noMetadata,
} from '../transport/status.ts';

/** One shared instance for the common case; grpc-js clones what it is given before changing it. */
const emptyGrpcMetadata = new GrpcMetadata();

export function fromGrpc(metadata: GrpcMetadata): Metadata {
  let result: Map<string, string> | undefined;
  const entries = metadata.toJSON();
  for (const key in entries) {
    if (isTransportKey(key)) continue;
    result ??= new Map();
    result.set(key, (entries[key] ?? []).join(','));
  }
  return result ?? noMetadata;
}

/** Throws INVALID_ARGUMENT for what HTTP/2 could not carry, instead of dropping it. */
export function toGrpc(metadata: Metadata | undefined): GrpcMetadata {
  if (metadata === undefined || metadata.size === 0) return emptyGrpcMetadata;
  const result = new GrpcMetadata();
  for (const [key, value] of metadata) {
    checkMetadataEntry(key, value);
    result.set(key, value);
  }
  return result;
}
