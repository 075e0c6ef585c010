// Metadata that HTTP/2 could not carry is refused here as the network adapter refuses it;
// otherwise a component would work in simulation and fail in production.

import { checkMetadataEntry } from '../transport/metadata.ts';
import { type Metadata, noMetadata } from '../transport/status.ts';

/** A copy: the peer must not see what the caller changes later. */
export function copyMetadata(metadata: Metadata | undefined): Metadata {
  if (metadata === undefined || metadata.size === 0) return noMetadata;
  for (const [key, value] of metadata) checkMetadataEntry(key, value);
  return new Map(metadata);
}
