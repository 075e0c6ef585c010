// The certificate of the dashboard must be a reader's (security §2). An admin's would work as well, and is
// refused for that: a process that people reach over plain HTTP must not hold a key that can change the
// fleet.

import { X509Certificate } from 'node:crypto';
import { BigFleetError } from '@bigfleet/base';
import { identityOfCertificate, type TlsMaterial } from '@bigfleet/wire';

const READER = 'bigfleet://readonly';

/** Undefined when the certificate in use is a reader's; otherwise why it is refused. */
export function identityProblem(tls: TlsMaterial): BigFleetError | undefined {
  const { cert } = tls.serverContextOptions();
  const pem = Array.isArray(cert) ? cert[0] : cert;
  if (pem === undefined) return refusal('there is no certificate');
  const identity = identityOfCertificate(new X509Certificate(pem).raw);
  if (identity.kind === 'verified' && identity.role === 'readonly') return undefined;
  if (identity.kind === 'verified') {
    return refusal(`it is ${identity.san}, which may change things`);
  }
  const presented = identity.kind === 'unusable' ? identity.presented.join(' ') : '';
  return refusal(`it carries ${presented === '' ? 'no bigfleet:// identity' : presented}`);
}

function refusal(why: string): BigFleetError {
  return new BigFleetError(
    'identity_denied',
    `the dashboard only reads, and takes a certificate of ${READER} only: ${why}; ` +
      'give --tls-cert and --tls-key of a reader',
  );
}
