// docs/api-reference.md: the custom resources and the wire contract, from the files that are applied
// and compiled.

import { type Definition, crdSections } from './crd-sections.ts';
import { page } from './markdown.ts';
import { protoSections } from './proto-sections.ts';

const INTRODUCTION = `# API reference

<!-- Generated: node tools/reference/main.ts -->

*Which fields are there, and what do they mean?* Two interfaces are a contract: the three custom
resources of a cluster (\`api/crd\`) and the gRPC services (\`api/proto\`). The page is written from those
files; \`make check\` fails when it is not current. What their parties must do is said by
[the specification](spec/README.md); how the wire behaves, by [wire protocols](internals/wire-protocols.md);
what error and reason codes mean, by [errors and reasons](errors.md).

## The promise of v1alpha1

Everything here is \`v1alpha1\` (kubernetes §1.4). Fields of the custom resources may change in place
until \`v1beta1\` is served; from then on changes are additive and a conversion path exists. An in-place
change still keeps stored objects readable. Upgrade the CRDs in place with \`kubectl apply\`, never by
deleting and creating them: a deleted CRD takes every CapacityRequest with it, which is demand going to
zero, which drains the fleet.

The five files of package \`bigfleet.v1alpha1\` keep every established name and number. What we add to
their messages has a number from 1000 and is marked *ours*; messages and services of our own live in
package \`bigfleet.ext.v1alpha1\`. A peer that knows none of ours works unchanged
([the rules](spec/wire-additions.md)).`;

const PROTO_INTRODUCTION = `## gRPC services

Times are Unix nanoseconds unless a name ends in its unit. Absent means zero or empty, as everywhere in
proto3. Who may call what under mTLS: [fencing and identity](internals/fencing-and-identity.md).`;

export interface ApiSources {
  readonly definitions: readonly Definition[];
  /** The descriptor image of api/proto, comments included. */
  readonly image: Uint8Array;
}

export function apiPage({ definitions, image }: ApiSources): string {
  return page([
    INTRODUCTION,
    '## Custom resources',
    'A path with `[]` is a field of each entry. `apiVersion`, `kind` and `metadata` are those of every object.',
    ...crdSections(definitions),
    PROTO_INTRODUCTION,
    ...protoSections(image),
  ]);
}
